import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { TokenRefusedError } from './token-refused-error.ts';

const SECOND = 1000;

/** How far the clocks of a provider and the gateway may be apart (RFC 7519, section 4.1.4). */
export const CLOCK_SKEW_SECONDS = 10;

const CLOCK_SKEW_MS = CLOCK_SKEW_SECONDS * SECOND;

/** Refuses a token outside its `nbf` to `exp`, and one that was issued in the future. */
export function refuseOutsideLifetime(claims: SourceClaims, now: number): void {
  const notBefore = Math.max(
    timeOf(claims, 'nbf') ?? -Infinity,
    timeOf(claims, 'iat') ?? -Infinity,
  );
  if (notBefore > now + CLOCK_SKEW_MS) throw new TokenRefusedError('token-not-yet-valid');
  if (expiryOf(claims) <= now) throw new TokenRefusedError('token-expired');
}

/** Returns when a token ends, in milliseconds since the epoch; `Infinity` if it does not say it. */
export function expiryOf(claims: SourceClaims): number {
  const expiry = timeOf(claims, 'exp');
  return expiry === undefined ? Infinity : expiry + CLOCK_SKEW_MS;
}

/** RFC 7519, section 2: a NumericDate is a number of seconds. Anything else is not a time. */
function timeOf(claims: SourceClaims, name: 'exp' | 'nbf' | 'iat'): number | undefined {
  const value = claims[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw new TokenRefusedError('incomplete-claims');
  return value * SECOND;
}
