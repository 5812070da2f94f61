import type { Redis } from 'ioredis';

import { openServer } from './open-server.ts';
import type { RedisCallee, RedisClient } from './redis-client.ts';
import { parseRedisInfo } from './redis-info.ts';
import { ReplyError } from './reply-error.ts';
import type { SentinelTarget, StandaloneTarget } from './redis-target.ts';

/** Connects to one server, or to the master that the sentinels name. */
export async function openSingleClient(
  target: StandaloneTarget | SentinelTarget,
  signal: AbortSignal,
): Promise<RedisClient> {
  const { redis, closed } = await openServer(target, signal);
  try {
    await requireMaster(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const call: RedisCallee['call'] = (command, args) => redis.call(command, ...args);
  return { closed, call, masters: () => [{ call }], nodes: () => [] };
}

/** Rejects if the server is a replica: it would return old data, and refuse every change. */
async function requireMaster(redis: Redis): Promise<void> {
  const info = parseRedisInfo(await redis.info().catch(permitted));
  if (info.get('loading') === '1') throw new ReplyError('LOADING');
  if (info.get('role') === 'slave') throw new ReplyError('READONLY');
}

/** Ignores the error if the user may not run INFO. */
function permitted(error: unknown): undefined {
  if (error instanceof Error && error.message.startsWith('NOPERM')) return undefined;
  throw error;
}
