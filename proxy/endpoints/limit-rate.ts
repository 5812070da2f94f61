import { TooManyRequestsError } from '../errors/denial-errors.ts';
import { hashToken } from '../crypto/tokens.ts';
import { networksOf } from '../http/network-of.ts';
import type { Identity } from '../records/session.ts';
import { userKey } from '../records/user-key.ts';
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

/**
 * Limit of what one user may have stored for a long time. Attack: a page of a sibling host has the browser of a
 * user sign in again and again. So the window is short: the user is locked out for minutes only.
 */
const STORED_FOR_USER = { limit: 100, windowSeconds: 10 * 60 };

/**
 * Counts one use of a user; see `limitRate`. Attack: stores in memory have a bound, so a signed-in user who
 * signs in or approves clients in a loop would push out the sessions, grants and clients of all others.
 */
export async function limitUser(
  rateLimits: RateLimitStore,
  purpose: 'sign-in' | 'browser-session' | 'approval' | 'connection',
  identity: Pick<Identity, 'provider' | 'issuer' | 'subject'>,
): Promise<void> {
  const user = hashToken(userKey(identity));
  await limitRate(rateLimits, `${purpose}-of:${user}`, STORED_FOR_USER);
}
