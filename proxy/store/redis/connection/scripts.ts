import type { RedisScript } from './redis-commands.ts';

/** KEYS: record. ARGV: the value it must have. Returns 1 if deleted, else 0. */
export const DELETE_IF_EQUAL: RedisScript = {
  keyCount: 1,
  lua: `
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call('DEL', KEYS[1])
  `,
};

/**
 * KEYS: record. ARGV: the value it must have, the new one, options of SET. Returns 1 if set, else
 * 0.
 */
export const REPLACE_IF_EQUAL: RedisScript = {
  keyCount: 1,
  lua: `
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], ARGV[2], unpack(ARGV, 3))
    return 1
  `,
};
