import { TooManyRequestsError } from '../errors/denial-errors.ts';
import { networksOf } from '../http/network-of.ts';
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

/** How much more an end site may do than one network. Many have several users, each with a network. */
const NETWORKS_OF_END_SITE = 4;

/**
 * Counts one request of the client's network and of its end site; see `limitRate`. What the network is refused
 * does not count for the end site, so that one user cannot use up the limit of the neighbours.
 */
export async function limitNetwork(
  rateLimits: RateLimitStore,
  purpose: string,
  { remoteAddress }: { readonly remoteAddress: string },
  rate: RateLimit,
): Promise<void> {
  const { network, endSite } = networksOf(remoteAddress);
  await limitRate(rateLimits, `${purpose}:${network}`, rate);
  if (endSite === network) return;
  const { limit, windowSeconds } = rate;
  const endSiteRate = { limit: limit * NETWORKS_OF_END_SITE, windowSeconds };
  await limitRate(rateLimits, `${purpose}:${endSite}`, endSiteRate);
}
