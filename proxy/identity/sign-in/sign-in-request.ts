import { isTokenHash, type TokenHash } from '../../crypto/tokens.ts';
import type { Sealed, Sealer } from '../../crypto/sealer.ts';
import { safeReturnPath } from './return-path.ts';
import { isOrigin, type Origin } from '../../../shared/snapshot/origin.ts';

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
}

/** Seals a request so that only the host at `audience` can open it. */
export function sealSignInRequest(
  { targetOrigin, returnPath, targetHash, expiresAt, provider }: SignInRequest,
  audience: Origin,
  sealer: Sealer,
): Sealed {
  const sealed = [targetOrigin, returnPath, targetHash, expiresAt, provider ?? null];
  const text = JSON.stringify(sealed);
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
  // Requests of earlier releases end before the provider.
  const [targetOrigin, returnPath, targetHash, expiresAt, name = null] = value as unknown[];
  if (!isOrigin(targetOrigin) || typeof returnPath !== 'string') return null;
  if (!isTokenHash(targetHash) || typeof expiresAt !== 'number') return null;
  if (name !== null && typeof name !== 'string') return null;
  const provider = name ?? undefined;
  return { targetOrigin, returnPath: safeReturnPath(returnPath), targetHash, expiresAt, provider };
}
