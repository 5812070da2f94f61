import { isTokenHash, type TokenHash } from '../../crypto/tokens.ts';
import type { Sealed, Sealer } from '../../crypto/sealer.ts';
import { safeReturnPath } from './return-path.ts';
import { isOrigin, type Origin } from '../../../shared/snapshot/origin.ts';
import {
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from '../../../shared/telemetry/tracing/trace-context.ts';

/** A route host's request to the authenticate host. The browser carries it, sealed. */
export interface SignInRequest {
  readonly targetOrigin: Origin;
  /** Starts with exactly one `/`. */
  readonly returnPath: string;
  /** Hash of the cookie that binds the request to the browser. */
  readonly targetHash: TokenHash;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Name of the identity provider; undefined for the one with `signIn`. */
  readonly provider: string | undefined;
  /** The trace that the sign-in belongs to. Absent without tracing, and in requests of earlier releases. */
  readonly trace?: TraceContext;
}

/** Seals a request so that only the host at `audience` can open it. */
export function sealSignInRequest(
  { targetOrigin, returnPath, targetHash, expiresAt, provider, trace }: SignInRequest,
  audience: Origin,
  sealer: Sealer,
): Sealed {
  const members = [targetOrigin, returnPath, targetHash, expiresAt, provider ?? null];
  const text = JSON.stringify(
    trace === undefined ? members : [...members, formatTraceparent(trace)],
  );
  return sealer.seal(text, contextOf(audience));
}

/**
 * Opens a sealed request; null if this gateway did not seal it for this host. An expired request opens
 * too, so that the user can be told where to start again.
 */
export function openSignInRequest(
  sealed: string,
  audience: Origin,
  sealer: Sealer,
): SignInRequest | null {
  const text = sealer.open(sealed, contextOf(audience));
  return text === null ? null : parse(text);
}

function contextOf(audience: Origin): string {
  return `sign-in-request ${audience}`;
}

function parse(text: string): SignInRequest | null {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value)) return null;
  // Requests of earlier releases end before the provider, or before the trace.
  const [targetOrigin, path, targetHash, expiresAt, name = null, traceparent] = value as unknown[];
  if (!isOrigin(targetOrigin) || typeof path !== 'string') return null;
  if (!isTokenHash(targetHash) || typeof expiresAt !== 'number') return null;
  if (name !== null && typeof name !== 'string') return null;
  const provider = name ?? undefined;
  const trace = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
  const returnPath = safeReturnPath(path);
  const request = { targetOrigin, returnPath, targetHash, expiresAt, provider };
  return trace === undefined ? request : { ...request, trace };
}
