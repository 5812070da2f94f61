import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { HANG_GUARD_MS } from '../eventually.ts';
import type { MovedClock } from './moved-clock.ts';
import { configurationOf, type RedisSecurity } from './redis-security.ts';

const POLL_MS = 10;

/** Any reply of a Redis. */
export type Reply = string | number | null | readonly Reply[];

/** Options of one redis-server. */
export interface RedisProcessOptions {
  readonly port: number;
  /** Directory of its own, created if it is missing. */
  readonly directory: string;
  readonly clock: MovedClock;
  readonly security: RedisSecurity;
  /** Lines for redis.conf. */
  readonly configuration: readonly string[];
  readonly isSentinel?: boolean;
}

/** One real redis-server (or sentinel) on loopback that can be killed, frozen and started again. */
export class RedisProcess implements AsyncDisposable {
  readonly port: number;
  readonly #options: RedisProcessOptions;
  readonly #configurationFile: string;
  #administrator: Redis | undefined;
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(options: RedisProcessOptions) {
    this.port = options.port;
    this.#options = options;
    this.#configurationFile = join(options.directory, 'redis.conf');
  }

  /** Starts a server, and waits until it answers. */
  static async start(options: RedisProcessOptions): Promise<RedisProcess> {
    const { port, directory, security, configuration } = options;
    await mkdir(directory, { recursive: true });
    const started = new RedisProcess(options);
    const lines = [
      'bind 127.0.0.1',
      ...configurationOf(security, port, options.isSentinel ?? false),
      `dir ${directory}`,
      'save ""',
      'loglevel warning',
      ...configuration,
    ];
    // Written only once, because Redis itself changes the file, in a failover for example.
    await writeFile(started.#configurationFile, `${lines.join('\n')}\n`);
    await started.start();
    return started;
  }

  /** Starts it again on the same port. */
  async start(): Promise<void> {
    if (this.#child !== undefined) throw new Error('this Redis is running already');
    const mode = this.#options.isSentinel === true ? ['--sentinel'] : [];
    const child = spawn('redis-server', [this.#configurationFile, ...mode], {
      env: { ...process.env, ...this.#options.clock.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk));
    // Without a listener a missing program would be an uncaught error; the poll below reports it.
    child.on('error', (error) => (this.#output += error.message));
    await this.#answers();
  }

  /** Kills it: connections break, and the port refuses. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    this.#administrator?.disconnect();
    this.#administrator = undefined;
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'close') : null;
    child.kill('SIGKILL');
    await gone;
  }

  /** Freezes it: connections stay open, new ones are accepted by the kernel, nothing answers. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** Ends `freeze`. */
  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Runs one command as an administrator, over a connection of its own. */
  async send(command: string, ...args: readonly (string | number)[]): Promise<Reply> {
    // Redis replies with these types; ioredis leaves them unknown.
    return (await this.#connection().call(command, ...args)) as Reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #connection(): Redis {
    if (this.#administrator !== undefined) return this.#administrator;
    const { port, security } = this.#options;
    const administrator = new Redis({
      host: '127.0.0.1',
      port,
      ...security.administrator(),
      protocol: 2,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    // Every failure also rejects the command that it belongs to.
    administrator.on('error', () => undefined);
    administrator.once('end', () => {
      if (this.#administrator === administrator) this.#administrator = undefined;
    });
    this.#administrator = administrator;
    return administrator;
  }

  async #answers(): Promise<void> {
    const deadline = Date.now() + HANG_GUARD_MS;
    for (;;) {
      try {
        await this.send('PING');
        return;
      } catch (error) {
        if (this.#child?.exitCode !== null || Date.now() > deadline) {
          throw new Error(`redis-server does not answer: ${this.#output}`, { cause: error });
        }
      }
      await sleep(POLL_MS);
    }
  }
}
