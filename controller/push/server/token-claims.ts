const SECOND = 1000;
/** How far the clocks of the API server and of this process may be apart. */
const CLOCK_SKEW_MS = 60 * SECOND;

/** What a token says of itself (RFC 7519). Nothing of it is verified. */
export interface TokenClaims {
  readonly audiences: readonly unknown[];
  readonly subject: unknown;
  /** Name of the pod that it is bound to. */
  readonly pod: unknown;
  /** When it ends, in milliseconds since the epoch; Infinity: it does not say. */
  readonly endsAt: number;
}

/** Reads what a ServiceAccount token says; undefined for what is none. */
export function readClaims(token: string): TokenClaims | undefined {
  const claims = payloadOf(token);
  if (claims === undefined) return undefined;
  const audience = memberOf(claims, 'aud');
  const ends = memberOf(claims, 'exp');
  return {
    audiences: Array.isArray(audience) ? audience : [audience],
    subject: memberOf(claims, 'sub'),
    pod: memberOf(memberOf(memberOf(claims, 'kubernetes.io'), 'pod'), 'name'),
    endsAt: typeof ends === 'number' ? ends * SECOND : Infinity,
  };
}

/** Whether a token has ended for sure. `now` in milliseconds since the epoch. */
export function hasEnded({ endsAt }: TokenClaims, now: number): boolean {
  return endsAt + CLOCK_SKEW_MS <= now;
}

function payloadOf(token: string): unknown {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    return JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
