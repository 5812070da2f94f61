import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { audiencesOf, refuseSenderConstrained, requireAudience } from './token-binding.ts';
import { TokenRefusedError } from './token-refused-error.ts';
import { jwtTypeOf, refuseSignsOfAccessToken } from './token-type.ts';
import { readUnverifiedJwt } from './unverified-jwt.ts';
import {
  requireIdentity,
  verifiedJwt,
  type VerificationContext,
  type VerifiedToken,
} from './verified-token.ts';
import { verifyJwt } from './verify-jwt.ts';

/**
 * Verifies an identity token of a provider (OpenID Connect Core, section 3.1.3.7). Its `nonce`, `acr` and
 * `auth_time` are not compared, because the gateway did not ask for the token.
 */
export async function verifyIdentityToken(
  token: string,
  provider: CompiledIdentityProvider,
  { keys, now }: VerificationContext,
): Promise<VerifiedToken> {
  const { issuer, clientId } = provider;
  const unverified = readUnverifiedJwt(token);
  if (unverified === null) throw new TokenRefusedError('malformed-token');
  // Before the signature: tokens of others must not cause requests for keys.
  if (unverified.claims['iss'] !== issuer) throw new TokenRefusedError('unknown-issuer');
  if (jwtTypeOf(unverified.header) !== 'plain') throw new TokenRefusedError('wrong-token-type');

  const publicKeys = keys.of(provider);
  const claims = await verifyJwt(token, {
    issuer,
    keys: publicKeys,
    requiredClaims: ['exp', 'iat'],
    now,
  });
  refuseSignsOfAccessToken(claims);
  refuseSenderConstrained(claims);
  requireOwnClient(claims, clientId);
  return verifiedJwt(requireIdentity(provider, claims), claims, publicKeys.countsUntil());
}

/** Steps 3 to 5: the token was issued to the gateway's client. */
function requireOwnClient(claims: SourceClaims, clientId: string | undefined): void {
  requireAudience(claims, clientId === undefined ? [] : [clientId]);
  const { azp } = claims;
  const needsParty = audiencesOf(claims).length > 1;
  if (azp === undefined ? needsParty : azp !== clientId)
    throw new TokenRefusedError('other-client');
}
