import { whyMissing } from '../missing-program.ts';

/** The reason why no Redis can run here; undefined if it can. */
export const noRedisReason = whyMissing('redis-server') ?? whyMissing('cc');
