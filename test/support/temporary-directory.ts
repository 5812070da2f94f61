import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary directory. Disposing of it deletes it. */
export class TemporaryDirectory implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<TemporaryDirectory> {
    return new TemporaryDirectory(await mkdtemp(join(tmpdir(), 'gatehouse-test-')));
  }

  /** Writes a file directly in it, and returns its path. */
  async write(name: string, text: string | Buffer): Promise<string> {
    const path = join(this.path, name);
    await writeFile(path, text);
    return path;
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.path, name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
