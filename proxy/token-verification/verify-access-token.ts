import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { Identity } from '../records/session.ts';
import { clientOf, introspect, leftOutGroupsOf, userInfoOf } from './ask-provider.ts';
import { refuseForeignToken, refuseSenderConstrained } from './token-binding.ts';
import { TokenRefusedError } from './token-refused-error.ts';
import { jwtTypeOf, requireSignsOfAccessToken } from './token-type.ts';
import { beginsAsSignedJwt, readUnverifiedJwt, type UnverifiedJwt } from './unverified-jwt.ts';
import {
  requireIdentity,
  verifiedJwt,
  verifiedOpaqueToken,
  type AccessTokenUse,
  type VerificationContext,
  type VerifiedToken,
} from './verified-token.ts';
import { verifyByUserInfo } from './verify-by-user-info.ts';
import { verifyGithubToken } from './verify-github-token.ts';
import { verifyJwt, type VerifiedClaims } from './verify-jwt.ts';

/**
 * Verifies an access token of a provider: a JWT locally (RFC 9068), any other by introspection
 * (RFC 7662) if the provider has it and the gateway has a secret there, else at userinfo. GitHub, which is no
 * OpenID provider, is asked in its own way.
 */
export async function verifyAccessToken(
  token: string,
  use: AccessTokenUse,
  context: VerificationContext,
): Promise<VerifiedToken> {
  const { provider } = use;
  if (provider.type === 'github') return verifyGithubToken(token, use, context);
  const unverified = readUnverifiedJwt(token);
  if (unverified !== null) return verifyJwtAccessToken(token, unverified, use, context);
  // Attack: an identity token with padding, or more parts, which some providers overlook.
  if (beginsAsSignedJwt(token)) throw new TokenRefusedError('malformed-token');
  const client = await clientOf(provider, context);
  const canIntrospect = client.serverMetadata().introspection_endpoint !== undefined;
  return canIntrospect && provider.clientSecret !== undefined
    ? verifyByIntrospection(token, use, context)
    : verifyByUserInfo(token, client, use, context);
}

/**
 * Attack: an identity token would pass for an access token. So a JWT is never given to introspection, which
 * some providers answer for every token that they signed, and one without `typ: at+jwt` counts only at a
 * provider with `accessTokenType`.
 */
async function verifyJwtAccessToken(
  token: string,
  { header, claims: { iss } }: UnverifiedJwt,
  { provider, allowedAudiences }: AccessTokenUse,
  context: VerificationContext,
): Promise<VerifiedToken> {
  const { issuer, clientId, accessTokenType } = provider;
  // Before the signature: tokens of others must not cause requests for keys.
  if (iss !== issuer) throw new TokenRefusedError('unknown-issuer');
  const type = jwtTypeOf(header);
  const isPlain = type === 'plain' && accessTokenType === 'jwt';
  if (type !== 'access-token' && !isPlain) throw new TokenRefusedError('wrong-token-type');

  const keys = context.keys.of(provider);
  const requiredClaims = ['exp', 'iat'];
  const claims = await verifyJwt(token, { issuer, keys, requiredClaims, now: context.now });
  // Before the provider is asked: newer keys may be without the one that signed.
  const countsUntil = keys.countsUntil();
  if (isPlain) requireSignsOfAccessToken(claims);
  refuseSenderConstrained(claims);
  refuseForeignToken(claims, { clientId, allowedAudiences });
  return verifiedJwt(await identityOf(token, claims, provider, context), claims, countsUntil);
}

async function verifyByIntrospection(
  token: string,
  { provider, allowedAudiences }: AccessTokenUse,
  context: VerificationContext,
): Promise<VerifiedToken> {
  const claims = await introspect(token, provider, context);
  refuseSenderConstrained(claims);
  refuseForeignToken(claims, { clientId: provider.clientId, allowedAudiences });
  return verifiedOpaqueToken(await identityOf(token, claims, provider, context), claims);
}

/**
 * Returns the user of an access token, by the same rules as at sign-in: userinfo is asked for every token that
 * it accepts, since groups are often only there, and left out groups are looked up.
 */
async function identityOf(
  token: string,
  claims: VerifiedClaims,
  provider: CompiledIdentityProvider,
  context: VerificationContext,
): Promise<Identity> {
  const userInfo = await userInfoOf(token, claims, provider, context);
  const groups = await leftOutGroupsOf(token, [claims, userInfo ?? {}], provider, context);
  return requireIdentity(provider, claims, userInfo, groups);
}
