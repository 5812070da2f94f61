import { openSync, readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { TemporaryDirectory } from '../../support/temporary-directory.ts';
import { startProgram, type BenchProgram } from '../support/bench-program.ts';
import { LOAD_CORE, SUBJECT_CORE } from '../support/pinned.ts';
import type { Workload } from './workload.ts';

const LOG = '.log';

/** A server that is measured. */
export interface Subject {
  readonly name: string;
  readonly workload: Workload;
  readonly pid: number;
  readonly port: number;
  /** Whether its clients use TLS. */
  readonly isTls?: boolean;
  /** Credentials for its requests. */
  readonly tokens: readonly string[];
  /** Starts what happens to it while it is measured, besides requests; absent: nothing. */
  readonly disturb?: () => Disposable;
}

/** Which gateway is measured, and how. */
export interface GatewayChoice {
  readonly name: string;
  readonly workload: Workload;
  readonly routes: number;
  /** Folder with the program that starts it; absent: this one. */
  readonly folder?: string;
  readonly nodeFlags?: readonly string[];
  /** Further arguments of the program. */
  readonly args?: readonly string[];
}

/** The upstream of all subjects, and where they write. Disposing of it ends all that was started. */
export class BenchWorld implements AsyncDisposable {
  readonly directory: TemporaryDirectory;
  readonly upstreamPort: number;
  /** Ends with this world. */
  readonly stack: AsyncDisposableStack;
  #logs = 0;

  private constructor(
    stack: AsyncDisposableStack,
    directory: TemporaryDirectory,
    upstreamPort: number,
  ) {
    this.stack = stack;
    this.directory = directory;
    this.upstreamPort = upstreamPort;
  }

  /** Starts the upstream. */
  static async open(): Promise<BenchWorld> {
    await using stack = new AsyncDisposableStack();
    const directory = stack.use(await TemporaryDirectory.create());
    const file = join(import.meta.dirname, 'upstream.ts');
    const upstream = stack.use(await startProgram(file, { core: LOAD_CORE }));
    return new BenchWorld(stack.move(), directory, upstream.port);
  }

  /** Starts a subject that is a program of this benchmark. Its stdout is a file. */
  async startNode(
    name: string,
    file: string,
    { args = [] as readonly string[], nodeFlags = [] as readonly string[] } = {},
  ): Promise<Subject & BenchProgram> {
    const program = await startProgram(file, {
      core: SUBJECT_CORE,
      args: [`http://127.0.0.1:${String(this.upstreamPort)}`, '--log', ...args],
      stdout: this.openLog(),
      nodeFlags,
    });
    this.stack.use(program);
    return { ...program, name, workload: 'mcp' };
  }

  /** Starts a gateway. */
  async startGateway(choice: GatewayChoice): Promise<Subject & BenchProgram> {
    const { name, workload, routes, folder = import.meta.dirname, nodeFlags = [] } = choice;
    const args = ['--workload', workload, '--routes', String(routes), ...(choice.args ?? [])];
    const file = join(folder, 'gateway.ts');
    return { ...(await this.startNode(name, file, { args, nodeFlags })), workload };
  }

  /** Opens a file for the log of a subject. */
  openLog(): number {
    this.#logs += 1;
    return openSync(join(this.directory.path, `${String(this.#logs)}${LOG}`), 'a');
  }

  /** Empties the files of all logs, which would fill the disk. */
  emptyLogs(): void {
    const { path } = this.directory;
    for (const name of readdirSync(path)) if (name.endsWith(LOG)) truncateSync(join(path, name));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stack.disposeAsync();
  }
}
