import type { RenewalLeases } from './renewals.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import { StoreUnavailableError } from './store-unavailable-error.ts';

/**
 * How long a claim lasts unless it is extended: longer than one request to the provider, and short enough
 * to wait for after a crash of its holder.
 */
export const LEASE_SECONDS = 15;

/** How long no renewal is tried after one failed. */
export const REST_SECONDS = 2;

/** Short enough that two extensions in a row may fail. */
const EXTEND_INTERVAL_MS = 4000;

/** The lease expires soon after these retries. */
const RELEASE_RETRIES = { attempts: 10, intervalMs: 1000 };

/** Extends a claim; false if it was lost. */
export type ExtendLease = () => Promise<boolean>;

/**
 * Holds the claim of a renewal while the work runs, and releases it afterwards. If the work fails, the
 * record rests for a moment.
 */
export async function withLease<Key, Result>(
  renewals: RenewalLeases<Key>,
  { key, claimId }: { readonly key: Key; readonly claimId: string },
  work: (extend: ExtendLease) => Promise<Result>,
): Promise<Result> {
  const extend: ExtendLease = () => renewals.extendRenewal(key, claimId, LEASE_SECONDS);
  // One failure is harmless: the work checks the claim before it uses the refresh token.
  const beat = setInterval(() => void extend().catch(() => false), EXTEND_INTERVAL_MS).unref();
  let restSeconds = REST_SECONDS;
  try {
    const result = await work(extend);
    restSeconds = 0;
    return result;
  } finally {
    clearInterval(beat);
    await release(() => renewals.releaseRenewal(key, claimId, restSeconds));
  }
}

/** Does not wait for an unavailable store: the result is the same. */
async function release(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    retryWhileUnavailable(run, RELEASE_RETRIES).catch(() => undefined);
  }
}
