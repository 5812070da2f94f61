import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { acceptsConnections } from '../../support/accepts-connections.ts';
import type { TemporaryDirectory } from '../../support/temporary-directory.ts';
import { onCore } from './pinned.ts';

const PATIENCE_MS = 10_000;
const POLL_MS = 20;
const VERSION = /\d+\.\d+[\w.+-]*/;

/** How a server that is not ours runs. */
export interface NativeOptions {
  readonly core: number;
  /** The port that its configuration names. */
  readonly port: number;
  /** File descriptor that becomes its stdout. */
  readonly stdout: number;
}

/** What a server that is not ours is started with. Its configuration goes to the directory. */
export interface ServerOptions extends Omit<NativeOptions, 'port'> {
  readonly upstreamPort: number;
  readonly directory: TemporaryDirectory;
}

/** A server that is not ours, as a process that ends with this one. Disposing of it ends it, and waits for that. */
export interface NativeProgram extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
}

/** Returns the version that a program of a Debian package prints; undefined if it is not installed. */
export function versionOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const { stdout, stderr } = spawnSync(file, ['-v'], { encoding: 'utf8' });
  return VERSION.exec(stdout + stderr)?.[0];
}

/** Prints that something is not measured, because a program is not installed. */
export function printLeftOut(what: string, file: string): void {
  console.log(
    `left out: ${what}; there is no ${file} (on Debian: apt install nginx-light haproxy)`,
  );
}

/** Starts a command that stays in the foreground, and waits until its port accepts connections. */
export async function startNative(
  command: readonly string[],
  { core, port, stdout }: NativeOptions,
): Promise<NativeProgram> {
  // If this process is killed, Linux ends the program.
  const bound = ['setpriv', '--pdeathsig', 'TERM', ...command];
  const [file = '', ...args] = onCore(core, bound);
  const child = spawn(file, args, { stdio: ['ignore', stdout, 'inherit'] });
  const { pid = NaN } = child;
  await listening(child, port);
  return { pid, port, [Symbol.asyncDispose]: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await acceptsConnections({ host: '127.0.0.1', port }))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await end(child);
      throw new Error(`${child.spawnargs.join(' ')} does not listen on ${String(port)}`);
    }
    await sleep(POLL_MS);
  }
}
