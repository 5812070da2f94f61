import { Redis } from 'ioredis';

import { inTime, monotonicClock } from '../../../../shared/runtime/clock.ts';
import type { OpenConnection } from './keep-open.ts';
import { serverOptions } from './redis-options.ts';
import type { RedisAddress, RedisTarget } from './redis-target.ts';

/** Long enough for several sentinels that do not answer, and then the server. */
const OPEN_TIMEOUT_MS = 5000;

/** One open connection to one server. */
export interface OpenServer extends OpenConnection {
  readonly redis: Redis;
}

/**
 * Opens a connection to one server, in a Cluster to `node`. It closes when the signal aborts.
 * Rejects if the server cannot be used.
 */
export async function openServer(
  target: RedisTarget,
  signal: AbortSignal,
  node?: RedisAddress,
): Promise<OpenServer> {
  const redis = await createServerClient(target, node);
  let failure: Error | undefined;
  redis.on('error', (error: Error) => (failure ??= error));
  const disconnect = (): void => redis.disconnect();
  signal.addEventListener('abort', disconnect);
  const closed = new Promise<unknown>((resolve) => {
    redis.once('end', () => {
      signal.removeEventListener('abort', disconnect);
      resolve(failure ?? new Error('Connection is closed.'));
    });
  });
  try {
    signal.throwIfAborted();
    await inTime(monotonicClock, OPEN_TIMEOUT_MS, redis.connect());
    // ioredis reports a database that cannot be selected as an error only, and uses a different
    // one.
    if (failure !== undefined) throw failure;
  } catch (error) {
    redis.disconnect();
    throw failure ?? error;
  }
  return { redis, closed };
}

async function createServerClient(target: RedisTarget, node?: RedisAddress): Promise<Redis> {
  return new Redis({
    ...(await serverOptions(target, node)),
    replyMapping: 'legacy',
    enableOfflineQueue: false,
    retryStrategy: () => null,
    // The server became a replica by a failover: connecting again finds the master.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
}
