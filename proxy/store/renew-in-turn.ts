import { setTimeout as wait } from 'node:timers/promises';

import type { RenewalClaim, Renewals, Versioned } from './renewals.ts';
import { type ExtendLease, withLease, LEASE_SECONDS } from './renewal-lease.ts';

/** How long to wait for a renewal by another proxy: longer than the lease of a crashed proxy. */
const MAX_WAIT_MS = 20_000;
const POLL_INTERVAL_MS = 100;

/** Why a record cannot be renewed now. */
export type CannotRenew =
  /** Another renewal has been taking too long. */
  | 'busy'
  /** A renewal failed a moment ago. */
  | 'resting';

/** A record that its holder may renew. */
type ClaimedRecord<Record extends Versioned> = Extract<
  RenewalClaim<Record>,
  { readonly kind: 'claimed' }
>;

/** How to renew a record. */
interface Renewal<Record extends Versioned, Result> {
  /** Runs while the record is claimed. Another renewal may have finished before. */
  readonly renew: (claimed: ClaimedRecord<Record>, extend: ExtendLease) => Promise<Result>;
  /** Returns the error for the caller. */
  readonly unavailable: (why: CannotRenew) => Error;
}

/**
 * Renews a record when its turn comes: it has one holder at a time over all proxies. Null if there is no
 * record.
 */
export async function renewInTurn<Key, Record extends Versioned, Result>(
  renewals: Renewals<Key, Record>,
  key: Key,
  { renew, unavailable }: Renewal<Record, Result>,
): Promise<Result | null> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const claim = await renewals.claimRenewal(key, LEASE_SECONDS);
    if (claim === null) return null;
    if (claim.kind === 'resting') throw unavailable('resting');
    if (claim.kind === 'claimed') {
      const { claimId } = claim;
      return withLease(renewals, { key, claimId }, (extend) => renew(claim, extend));
    }
    if (performance.now() > deadline) throw unavailable('busy');
    await wait(POLL_INTERVAL_MS);
  }
}
