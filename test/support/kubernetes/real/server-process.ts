import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { HANG_GUARD_MS } from '../../eventually.ts';

/** Pause between two probes: probing a server that is starting slows it down. */
const POLL_MS = 100;
/** Enough output to see why a program ended. */
const KEPT_OUTPUT_CHARACTERS = 4_000;
/** Program of util-linux. */
const SETPRIV = '/usr/bin/setpriv';

/** A server that runs as a separate process. Disposing of it kills it. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #program: string;
  #output = '';

  private constructor(program: string, argv: readonly string[]) {
    this.#program = program;
    // Without the variables of the test run, which programs would read settings from.
    const child = spawn(...untilThisProcessEnds(program, argv), {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.#output = (this.#output + chunk).slice(-KEPT_OUTPUT_CHARACTERS);
    });
    // Without a listener a missing program would be an uncaught error; the wait reports it.
    child.on('error', (error) => (this.#output += error.message));
    this.#child = child;
  }

  /** Starts a program and waits until `answers` holds. */
  static async start(
    program: string,
    argv: readonly string[],
    answers: () => Promise<boolean>,
  ): Promise<ServerProcess> {
    const server = new ServerProcess(program, argv);
    try {
      await server.#waitUntil(answers);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  /** Id of the process; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }

  get #hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  async #waitUntil(answers: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + HANG_GUARD_MS;
    while (!(await answers())) {
      if (this.#hasEnded || performance.now() > deadline) {
        throw new Error(`${this.#program} does not answer: ${this.#output}`);
      }
      await sleep(POLL_MS);
    }
  }
}

/** If possible, the server also ends when the test run is killed. */
function untilThisProcessEnds(
  program: string,
  argv: readonly string[],
): [command: string, argv: readonly string[]] {
  if (!existsSync(SETPRIV)) return [program, argv];
  return [SETPRIV, ['--pdeathsig', 'KILL', program, ...argv]];
}
