import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createMovedClock } from './moved-clock.ts';
import { freePort } from '../free-port.ts';
import { RedisProcess, type Reply } from './redis-process.ts';
import {
  createRedisSecurity,
  queryOf,
  urlPartsOf,
  type ClientFiles,
  type RedisSecurityOptions,
} from './redis-security.ts';

/** Options of a Redis. */
export interface RedisOptions extends RedisSecurityOptions {
  /** Whether its data outlives `stop`. */
  readonly keepsData?: boolean;
  /** More lines for redis.conf, e.g. `maxmemory 2mb`. */
  readonly configuration?: readonly string[];
}

/** A real Redis on loopback, with a clock that the test moves. */
export interface TestRedis extends AsyncDisposable {
  /** Value of `--redis-url`. */
  readonly url: string;
  readonly port: number;
  /** Present with TLS. */
  readonly files?: ClientFiles;
  /** Kills it: connections break, and the port refuses. */
  stop(): Promise<void>;
  /** Starts it again on the same port, empty unless it keeps its data. */
  start(): Promise<void>;
  /** Freezes it: connections stay open, and nothing answers. */
  freeze(): void;
  /** Ends `freeze`. */
  thaw(): void;
  /** Moves its clock. */
  advance(seconds: number): void;
  /** Milliseconds since the epoch, by its clock. */
  now(): number;
  /** Runs one command as an administrator. */
  send(command: string, ...args: readonly (string | number)[]): Promise<Reply>;
}

/** Starts a Redis that dies with the test. */
export async function startRedis(options: RedisOptions = {}): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-'));
  const clock = createMovedClock(directory);
  const security = await createRedisSecurity(options, directory);
  const process = await RedisProcess.start({
    port: await freePort(),
    directory,
    clock,
    security,
    configuration: [
      // Every write is on disk before its reply, so a kill loses nothing.
      ...(options.keepsData === true ? ['appendonly yes', 'appendfsync always'] : []),
      ...(options.configuration ?? []),
    ],
  });
  const { scheme, login, parameters } = urlPartsOf(security);
  return {
    url: `${scheme}://${login}127.0.0.1:${String(process.port)}${queryOf(parameters)}`,
    port: process.port,
    ...(security.files && { files: security.files }),
    stop: () => process.stop(),
    start: () => process.start(),
    freeze: () => process.freeze(),
    thaw: () => process.thaw(),
    advance: (seconds) => clock.advance(seconds),
    now: () => clock.now(),
    send: (command, ...args) => process.send(command, ...args),
    [Symbol.asyncDispose]: async () => {
      await process.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
