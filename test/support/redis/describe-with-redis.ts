import { describe } from '@jest/globals';

import { noRedisReason } from './no-redis-reason.ts';

/** `describe` for tests that start a Redis. Where none can run they are skipped, but not in CI. */
export const describeWithRedis: typeof describe | typeof describe.skip =
  noRedisReason === undefined ? describe : describe.skip;

if (noRedisReason !== undefined) {
  if (process.env['CI'] !== undefined) throw new Error(noRedisReason);
  console.warn(`skipped: ${noRedisReason}`);
}
