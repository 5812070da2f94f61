import { describeUnless } from '../describe-unless.ts';
import { noRedisReason } from './no-redis-reason.ts';

/** `describe` for tests that start a Redis. Without Redis they are skipped, except in CI. */
export const describeWithRedis = describeUnless(noRedisReason);
