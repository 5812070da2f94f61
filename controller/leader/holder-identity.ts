import { randomBytes } from 'node:crypto';

const RANDOM_BYTES = 8;

/**
 * Who holds a Lease: the pod or host, and this process of it. A container that is restarted in place
 * has the name of the one before, and is another holder.
 */
export function holderIdentity(name: string): string {
  return `${name}_${randomBytes(RANDOM_BYTES).toString('hex')}`;
}
