import { errors, jwtVerify } from 'jose';

import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { providerUnavailable } from '../identity-provider/provider-failure.ts';
import type { PublicKeys } from './provider-keys.ts';
import { TokenRefusedError, type TokenRefusal } from './token-refused-error.ts';
import { CLOCK_SKEW_SECONDS, refuseOutsideLifetime } from './token-times.ts';

/** Asymmetric ones only. Attack: the public key taken for the secret of an HS256 signature. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Claims that every token must have, verified. */
export type VerifiedClaims = SourceClaims & { readonly sub: string };

/** What a JWT must be. */
export interface JwtDemands {
  readonly issuer: string;
  readonly keys: PublicKeys;
  readonly requiredClaims: readonly string[];
  readonly now: () => number;
}

/**
 * Returns the claims of a JWT whose signature, issuer and times are right, and that has a subject. Rejects
 * with a `TokenRefusedError`, or with an `UnavailableError` if the keys cannot be had.
 *
 * Only keys of the issuer count: `jwk`, `jku`, `x5c` and `x5u` of the header are ignored, and a token with
 * `crit` is refused (RFC 8725, section 3.10; RFC 7515, section 4.1.11).
 */
export async function verifyJwt(
  token: string,
  { issuer, keys, requiredClaims, now }: JwtDemands,
): Promise<VerifiedClaims> {
  refuseOtherSpelling(token);
  const claims = await jwtVerify(token, keysOrUnavailable(keys), {
    algorithms: ALGORITHMS,
    issuer,
    requiredClaims: ['sub', ...requiredClaims],
    currentDate: new Date(now()),
    clockTolerance: CLOCK_SKEW_SECONDS,
  }).then(({ payload }) => payload, refuse);
  // The library does not look at `iat`.
  refuseOutsideLifetime(claims, now());
  if (!hasSubject(claims)) throw new TokenRefusedError('incomplete-claims');
  return claims;
}

/** Returns whether claims name a user (RFC 7519, section 4.1.2). */
export function hasSubject(claims: SourceClaims): claims is VerifiedClaims {
  return typeof claims['sub'] === 'string' && claims['sub'] !== '';
}

/**
 * Attack: bits after the last byte of a signature can be set at will, and each spelling would be a token of
 * its own (RFC 4648, section 3.5).
 */
function refuseOtherSpelling(token: string): void {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  const canonical = Buffer.from(signature, 'base64url').toString('base64url');
  if (signature !== canonical) throw new TokenRefusedError('malformed-token');
}

/** Tells failures of fetching the keys from refusals of the token. */
function keysOrUnavailable({ keyOf }: PublicKeys): PublicKeys['keyOf'] {
  return async (header, token) => {
    try {
      return await keyOf(header, token);
    } catch (error) {
      throw error instanceof errors.JOSEError ? error : providerUnavailable(error);
    }
  };
}

/** Rejections that are none of the token, such as defects, stay what they are. */
function refuse(error: unknown): never {
  throw error instanceof errors.JOSEError ? new TokenRefusedError(refusalOf(error)) : error;
}

function refusalOf(error: errors.JOSEError): TokenRefusal {
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm-refused';
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-key';
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'ambiguous-key';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad-signature';
  if (error instanceof errors.JWTExpired) return 'token-expired';
  if (error instanceof errors.JWTClaimValidationFailed) return refusalOfClaim(error);
  return 'malformed-token';
}

function refusalOfClaim({ claim, reason }: errors.JWTClaimValidationFailed): TokenRefusal {
  if (reason !== 'check_failed') return 'incomplete-claims';
  return claim === 'nbf' ? 'token-not-yet-valid' : 'unknown-issuer';
}
