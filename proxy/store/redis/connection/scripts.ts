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
 * KEYS: record. ARGV: the value it must have, or nothing if there must be none; the new one, lifetime in
 * milliseconds, which is never shortened. Returns 1 if set, else 0.
 */
export const REPLACE_AND_EXTEND: RedisScript = {
  keyCount: 1,
  lua: `
    if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
    local life = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3]))
    redis.call('SET', KEYS[1], ARGV[2], 'PX', life)
    return 1
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
