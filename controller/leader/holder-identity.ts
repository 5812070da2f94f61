import { randomBytes } from 'node:crypto';

const RANDOM_BYTES = 8;

/**
 * Returns a name for this process as the holder of a Lease: the pod or host, and random bytes. A
 * container that restarts in place keeps its name and must be a different holder.
 */
export function holderIdentity(name: string): string {
  return `${name}_${randomBytes(RANDOM_BYTES).toString('hex')}`;
}
