import type { RateLimit, RateLimitStore } from '../../rate-limit-store.ts';
import { hashedId, keyOf, milliseconds } from '../records/keys.ts';
import type { RedisCommands, RedisScript } from '../connection/redis-commands.ts';
import { integerReply } from '../connection/replies.ts';

/**
 * KEYS: uses. ARGV: limit, window in milliseconds. Returns 0, or the milliseconds until the window
 * ends if the limit is reached.
 */
const COUNT_USE: RedisScript = {
  keyCount: 1,
  lua: `
    local uses = tonumber(redis.call('GET', KEYS[1]) or 0)
    if uses >= tonumber(ARGV[1]) then return math.max(1, redis.call('PTTL', KEYS[1])) end
    redis.call('INCR', KEYS[1])
    if uses == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
    return 0
  `,
};

/** Counts uses over all proxies, in windows that begin with a key's first use. */
export class RedisRateLimitStore implements RateLimitStore {
  readonly #redis: RedisCommands;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  async countUse(key: string, { limit, windowSeconds }: RateLimit): Promise<number> {
    const keys = [keyOf(this.#redis, 'rate-limit', hashedId(key))];
    const wait = integerReply(
      await this.#redis.run(COUNT_USE, keys, [limit, milliseconds(windowSeconds)]),
    );
    return Math.ceil(wait / 1000);
  }
}
