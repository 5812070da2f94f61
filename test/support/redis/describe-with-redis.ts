import { describe } from '@jest/globals';

import { noRedisReason } from './no-redis-reason.ts';

/** `describe` for tests that start a Redis. Without Redis they are skipped, except in CI. */
export const describeWithRedis: typeof describe | typeof describe.skip =
  noRedisReason === undefined ? describe : describe.skip;

if (noRedisReason !== undefined) {
  if (process.env['CI'] !== undefined) throw new Error(noRedisReason);
  console.warn(`skipped: ${noRedisReason}`);
}
