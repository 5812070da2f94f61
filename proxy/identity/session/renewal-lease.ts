import { retryWhileAway } from '../../store/retry-while-away.ts';
import type { SignInStore } from '../../store/sign-in-store.ts';
import { StoreUnavailableError } from '../../store/store-unavailable-error.ts';
import { REST_SECONDS } from '../provider/provider-failure.ts';

/**
 * How long a claim lasts of a holder that does not extend it: longer than one request to the provider
 * does, and short enough to wait for when the holder has died.
 */
export const LEASE_SECONDS = 15;

/** Two in a row may fail, and the claim lasts. */
const EXTEND_INTERVAL_MS = 4000;

/** After these the lease ends soon by itself. */
const RELEASE_RETRIES = { attempts: 10, intervalMs: 1000 };

/** Extends a claim; false when it is not held any more. */
export type ExtendLease = () => Promise<boolean>;

/**
 * Does the work of who claimed a renewal. The claim is held meanwhile, and given back after it; when
 * the work failed the sign-in rests for a moment.
 */
export async function withLease<Result>(
  signIns: SignInStore,
  { signInId, claimId }: { readonly signInId: string; readonly claimId: string },
  work: (extend: ExtendLease) => Promise<Result>,
): Promise<Result> {
  const extend: ExtendLease = () => signIns.extendRenewal(signInId, claimId, LEASE_SECONDS);
  // One failure says nothing yet; who has lost the claim finds out where it matters.
  const beat = setInterval(() => void extend().catch(() => false), EXTEND_INTERVAL_MS).unref();
  let restSeconds = REST_SECONDS;
  try {
    const result = await work(extend);
    restSeconds = 0;
    return result;
  } finally {
    clearInterval(beat);
    await release(() => signIns.releaseRenewal(signInId, claimId, restSeconds));
  }
}

/** Nobody waits for a store that is away: the result is the same. */
async function release(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    retryWhileAway(run, RELEASE_RETRIES).catch(() => undefined);
  }
}
