import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const MAIN = join(import.meta.dirname, '../../cli/gatehouse.js');

/** What runs `gatehouse`: a program, and arguments before those of the command, of which the last is the script. */
export type CommandProgram = readonly [string, ...(readonly string[])];

/** The `gatehouse` of this checkout. */
export const CHECKOUT_PROGRAM: CommandProgram = [process.execPath, MAIN];

type Variables = Readonly<Record<string, string>>;

/** A record of the JSON log. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** The result of a command that ends by itself. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of `gatehouse` to its end, with no other environment variables than these. */
export async function runGatehouse(
  argv: readonly string[],
  variables: Variables = {},
  input = '',
): Promise<CommandResult> {
  const child = start(argv, variables, CHECKOUT_PROGRAM);
  child.stdin.end(input);
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  return { code: child.exitCode, stdout, stderr };
}

/** Starts a command of `gatehouse` that keeps running, such as `run`. */
export function startGatehouse(
  argv: readonly string[],
  variables: Variables = {},
  program: CommandProgram = CHECKOUT_PROGRAM,
): GatehouseProcess {
  const child = start(argv, variables, program);
  child.stdin.end();
  return new GatehouseProcess(child);
}

type PipedProcess = ReturnType<typeof start>;

/** A running `gatehouse`. Disposing of it kills it. */
export class GatehouseProcess {
  readonly #child: PipedProcess;
  readonly #log: LogRecord[] = [];
  readonly #events = new EventEmitter();
  readonly #closed: Promise<unknown>;
  #stderr = '';
  #hasEnded = false;

  constructor(child: PipedProcess) {
    this.#child = child;
    this.#closed = once(child, 'close');
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (this.#stderr += chunk));
    createInterface({ input: child.stdout }).on('line', (line) => {
      // The log is one JSON object a line.
      this.#log.push(JSON.parse(line) as LogRecord);
      this.#events.emit('change');
    });
    child.once('close', () => {
      this.#hasEnded = true;
      this.#events.emit('change');
    });
  }

  /** Its id; NaN if it could not be started. */
  get pid(): number {
    return this.#child.pid ?? NaN;
  }

  /** Everything that the process has logged. */
  get log(): readonly LogRecord[] {
    return this.#log;
  }

  /** Everything else that the process wrote; empty unless it crashed. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Returns the first record that fits, once there is one. Rejects if the process ends without it. */
  async logged(fits: (record: LogRecord) => boolean): Promise<LogRecord> {
    for (;;) {
      const record = this.#log.find(fits);
      if (record !== undefined) return record;
      if (this.#hasEnded) throw new Error(`the process ended: ${this.#stderr}`);
      await once(this.#events, 'change');
    }
  }

  /** Resolves when all ports listen. */
  async listening(): Promise<LogRecord> {
    return this.logged(({ message }) => message === 'listening');
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Returns the exit code, once the process has ended. */
  async exited(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}

function start(
  argv: readonly string[],
  variables: Variables,
  [program, ...before]: CommandProgram,
): ChildProcessWithoutNullStreams {
  return spawn(program, [...before, ...argv], { env: variables });
}
