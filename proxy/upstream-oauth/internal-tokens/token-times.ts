import type { InternalToken } from '../../records/internal-token.ts';

/** A token is refreshed beside the requests that use it during the last tenth of its life. */
const LAST_SHARE = 0.1;

/** The longest time before its end at which that begins. */
const LAST_MS = 120_000;

/** Returns from when a token is refreshed beside requests; `Infinity` if it cannot be. */
export function refreshedFrom({ refreshToken, expiresAt, issuedAt }: InternalToken): number {
  if (refreshToken === undefined || expiresAt === undefined) return Infinity;
  return expiresAt - Math.min(LAST_MS, (expiresAt - issuedAt) * LAST_SHARE);
}

/** Returns whether a token cannot be sent any more. */
export function isOver({ expiresAt = Infinity }: InternalToken, now: number): boolean {
  return now >= expiresAt;
}

/** Returns whether there is something to call the upstream with, now or after a refresh. */
export function isUsable(token: InternalToken, now: number): boolean {
  return token.refreshToken !== undefined || !isOver(token, now);
}

/** Returns whether two are of one token response. A server may give the same access token again. */
export function isSameToken(a: InternalToken, b: InternalToken): boolean {
  return a.accessToken === b.accessToken && a.issuedAt === b.issuedAt;
}
