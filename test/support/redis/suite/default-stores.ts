import { expect } from '@jest/globals';

import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import type { SealingKeys } from '../../../../proxy/crypto/sealing-key.ts';
import { randomToken } from '../../../../proxy/crypto/tokens.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';
import type { RedisMessaging } from '../../../../proxy/store/redis/connection/redis-commands.ts';
import { RedisConnection } from '../../../../proxy/store/redis/connection/redis-connection.ts';
import { createRedisStores } from '../../../../proxy/store/redis/stores/redis-stores.ts';
import { parseRedisUrl } from '../../../../proxy/store/redis/connection/redis-url.ts';
import type { Stores } from '../../../../proxy/store/stores.ts';
import type { LineSink } from '../../../../shared/telemetry/line-writer.ts';
import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { HANG_GUARD_MS } from '../../eventually.ts';
import { startRedis, type TestRedis } from '../start-redis.ts';
import { observeHttp } from './observe-http.ts';
import { dumpRedis } from './redis-dump.ts';
import { RedisMonitor } from './redis-monitor.ts';
import { CANARY } from './secret.ts';
import { suiteRecord, type SuiteRecord } from './suite-record.ts';

/** The two clocks are read one after the other, so they differ slightly. */
const CLOCK_STEP_MS = 100;

/** Stores of one gateway. */
export interface OpenStores {
  readonly stores: Stores;
  close(): Promise<void>;
}

interface StoresOptions {
  readonly sealingKeys: SealingKeys;
  readonly logger: Logger;
  /** Time in the stores, which the test moves. */
  readonly now?: (() => number) | undefined;
}

let observers = 0;
let observation: Disposable | undefined;

/** Opens the stores of a gateway whose test provides none: in memory, or in Redis in a run on Redis. */
export async function openDefaultStores(options: StoresOptions): Promise<OpenStores> {
  if (suiteRecord === undefined) return withoutClosing(createMemoryStores(options.now));
  return openRedisStores(options, suiteRecord);
}

/** Starts a Redis that ends with the stores, and records every command it ran. */
async function openRedisStores(
  { sealingKeys, logger, now }: StoresOptions,
  into: SuiteRecord,
): Promise<OpenStores> {
  await using opening = new AsyncDisposableStack();
  const password = randomToken();
  const redis = opening.use(await startRedis({ password }));
  const monitor = await RedisMonitor.start(redis, password, into.newCommandsFile());
  const connection = opening.use(new RedisConnection(parseRedisUrl(redis.url), { logger }));
  if (!(await connection.waitUntilReady(HANG_GUARD_MS))) throw new Error('Redis cannot be reached');
  opening.use(observe(into));
  into.addSecrets([
    { kind: 'password of Redis', value: password },
    ...sealingKeys.map(({ secret }) => ({
      kind: 'sealing key',
      value: Buffer.from(secret).toString('base64url'),
    })),
  ]);
  const testPath = expect.getState().testPath ?? '';
  into.add('opened', testPath);
  const open = opening.move();
  const timed = now === undefined ? connection : followClock(connection, redis, now);
  return {
    stores: createRedisStores(timed, new Sealer(sealingKeys)),
    async close() {
      const canary = { kind: CANARY, value: randomToken() };
      into.addSecrets([canary]);
      await redis.send('SET', CANARY, JSON.stringify(canary));
      await monitor.stop();
      for await (const entry of dumpRedis(redis)) into.addKey(entry);
      into.add('closed', testPath);
      await open.disposeAsync();
    },
  };
}

/** Sets the clock of a Redis to a test's before every command. */
function followClock(
  connection: RedisMessaging,
  redis: TestRedis,
  now: () => number,
): RedisMessaging {
  const follow = (): void => {
    const behindMs = now() - redis.now();
    if (Math.abs(behindMs) >= CLOCK_STEP_MS) redis.advance(behindMs / 1000);
  };
  return {
    prefix: connection.prefix,
    logger: connection.logger,
    send(command, ...args) {
      follow();
      return connection.send(command, ...args);
    },
    run(script, keys, args) {
      follow();
      return connection.run(script, keys, args);
    },
    waitUntilReady: (ms) => connection.waitUntilReady(ms),
    subscribe: (channel, subscriber) => connection.subscribe(channel, subscriber),
  };
}

/** Stores that need no closing, or that their owner closes. */
export function withoutClosing(stores: Stores): OpenStores {
  return { stores, close: () => Promise.resolve() };
}

/** Returns the same sink, which a run on Redis also records. */
export function recordedSink(sink: LineSink): LineSink {
  if (suiteRecord === undefined) return sink;
  return {
    write(text) {
      suiteRecord?.addLog(text);
      return sink.write(text);
    },
  };
}

/** One observer is enough for all gateways of a process. */
function observe(into: SuiteRecord): Disposable {
  observers += 1;
  observation ??= observeHttp((secrets) => into.addSecrets(secrets));
  return {
    [Symbol.dispose]() {
      observers -= 1;
      if (observers > 0) return;
      observation?.[Symbol.dispose]();
      observation = undefined;
    },
  };
}
