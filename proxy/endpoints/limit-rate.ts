import { TooManyRequestsError } from '../errors/denial-errors.ts';
import { networkOf } from '../http/network-of.ts';
import type { RateLimit, RateLimitStore } from '../store/rate-limit-store.ts';

/** Counts one use under a key; throws a `TooManyRequestsError` if the key has reached its limit. */
export async function limitRate(
  rateLimits: RateLimitStore,
  key: string,
  rate: RateLimit,
): Promise<void> {
  const secondsToWait = await rateLimits.countUse(key, rate);
  if (secondsToWait > 0) throw new TooManyRequestsError(secondsToWait);
}

/** Counts one request of the client's network; see `limitRate`. */
export function limitNetwork(
  rateLimits: RateLimitStore,
  purpose: string,
  { remoteAddress }: { readonly remoteAddress: string },
  rate: RateLimit,
): Promise<void> {
  return limitRate(rateLimits, `${purpose}:${networkOf(remoteAddress)}`, rate);
}
