import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { refuseSenderConstrained, requireAudience } from './token-binding.ts';
import { TokenRefusedError } from './token-refused-error.ts';
import { jwtTypeOf, refuseEvents } from './token-type.ts';
import { readUnverifiedJwt } from './unverified-jwt.ts';
import {
  requireIdentity,
  verifiedJwt,
  type VerificationContext,
  type VerifiedToken,
} from './verified-token.ts';
import { verifyJwt } from './verify-jwt.ts';

/**
 * Verifies a JWT of any provider with `audiences`. Its `iss` selects the provider, as exactly that text, and
 * its `aud` must have one of that provider's audiences.
 */
export async function verifyTrustedJwt(
  token: string,
  providers: readonly CompiledIdentityProvider[],
  { keys, now }: VerificationContext,
): Promise<VerifiedToken> {
  const unverified = readUnverifiedJwt(token);
  if (unverified === null) throw new TokenRefusedError('malformed-token');
  const { header, claims: unverifiedClaims } = unverified;
  const provider = providers.find(({ issuer }) => issuer === unverifiedClaims['iss']);
  if (provider?.audiences === undefined) throw new TokenRefusedError('unknown-issuer');
  // RFC 8725, section 3.11: a JWT for another use, such as a proof of possession, is no credential.
  if (jwtTypeOf(header) === 'other') throw new TokenRefusedError('wrong-token-type');

  const publicKeys = keys.of(provider, provider.jwksUrl);
  const { issuer, audiences } = provider;
  const claims = await verifyJwt(token, { issuer, keys: publicKeys, requiredClaims: ['exp'], now });
  refuseEvents(claims);
  refuseSenderConstrained(claims);
  requireAudience(claims, audiences);
  return verifiedJwt(requireIdentity(provider, claims), claims, publicKeys.countsUntil());
}
