import { memberOf } from './member-of.ts';

const SECOND = 1000;
/** Header, payload and signature (RFC 7515, section 3.1). */
const JWT_SEGMENTS = 3;
/** How far the clocks of the API server and this process may differ. */
const CLOCK_SKEW_MS = 60 * SECOND;

/** Claims of a token (RFC 7519). None of them is verified. */
export interface TokenClaims {
  readonly audiences: readonly unknown[];
  readonly subject: unknown;
  /** Name of the pod that the token is bound to. */
  readonly pod: unknown;
  /** When the token expires, in milliseconds since 1970; Infinity if it does not name a time. */
  readonly expiresAt: number;
}

/** Reads the claims of a ServiceAccount token; undefined if it is not a JWT. */
export function readClaims(token: string): TokenClaims | undefined {
  const claims = payloadOf(token);
  if (claims === undefined) return undefined;
  const audience = memberOf(claims, 'aud');
  const expires = memberOf(claims, 'exp');
  return {
    audiences: Array.isArray(audience) ? audience : [audience],
    subject: memberOf(claims, 'sub'),
    pod: memberOf(memberOf(memberOf(claims, 'kubernetes.io'), 'pod'), 'name'),
    expiresAt: typeof expires === 'number' ? expires * SECOND : Infinity,
  };
}

/** Whether a token has certainly expired. `now` in milliseconds since 1970. */
export function hasExpired({ expiresAt }: TokenClaims, now: number): boolean {
  return expiresAt + CLOCK_SKEW_MS <= now;
}

function payloadOf(token: string): unknown {
  const segments = token.split('.');
  if (segments.length !== JWT_SEGMENTS) return undefined;
  try {
    return JSON.parse(Buffer.from(segments[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
