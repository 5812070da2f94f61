import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of Node's compile cache for measured processes. Disposing of it deletes it. */
export class CompileCache implements AsyncDisposable {
  /** Environment of a process that uses it in place of its own. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
    this.variables = { NODE_COMPILE_CACHE: path };
  }

  static async create(): Promise<CompileCache> {
    return new CompileCache(await mkdtemp(join(tmpdir(), 'gatehouse-start-')));
  }

  /** Makes the next start a cold one. Processes write to the cache when they end. */
  async clear(): Promise<void> {
    await rm(this.#path, { recursive: true });
    await mkdir(this.#path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#path, { recursive: true });
  }
}
