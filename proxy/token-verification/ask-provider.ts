import {
  ClientError,
  fetchUserInfo,
  ResponseBodyError,
  tokenIntrospection,
  WWWAuthenticateChallengeError,
  type Configuration as ProviderClient,
} from 'openid-client';

import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { lookUpLeftOutGroups } from '../identity-provider/look-up-groups.ts';
import { providerUnavailable } from '../identity-provider/provider-failure.ts';
import { discoveredClient } from './discovered-client.ts';
import { scopesOfToken } from './scopes-of-token.ts';
import { TokenRefusedError } from './token-refused-error.ts';
import { refuseOutsideLifetime } from './token-times.ts';
import type { VerificationContext } from './verified-token.ts';
import { hasSubject, type VerifiedClaims } from './verify-jwt.ts';

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** The member `code` of an error about a `sub` that is not the expected one. */
const OTHER_SUBJECT = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

/** Errors about the only part of our requests that differs (RFC 6749, 5.2; RFC 6750, 3.1; RFC 7009, 2.2.1). */
const ABOUT_THE_TOKEN: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_token',
  'unsupported_token_type',
]);

/** Returns the client for a provider; rejects with an `UnavailableError` if it cannot be discovered. */
export function clientOf(
  provider: CompiledIdentityProvider,
  { discovery }: VerificationContext,
): Promise<ProviderClient> {
  return orUnavailable(discoveredClient(provider, discovery));
}

/** Turns every failure of a request to a provider into an `UnavailableError`. */
export function orUnavailable<Value>(request: Promise<Value>): Promise<Value> {
  return request.catch((error: unknown) => {
    throw providerUnavailable(error);
  });
}

/**
 * Returns what a provider says about an opaque access token (RFC 7662). Rejects with a `TokenRefusedError` if
 * the token is not active, not a bearer token, or without a subject.
 */
export async function introspect(
  token: string,
  provider: CompiledIdentityProvider,
  context: VerificationContext,
): Promise<VerifiedClaims> {
  const { issuer } = provider;
  const client = await clientOf(provider, context);
  const hint = { token_type_hint: 'access_token' };
  const claims: SourceClaims = await tokenIntrospection(client, token, hint).catch(
    (error: unknown) => {
      throw introspectionFailure(error);
    },
  );
  const { active, iss = issuer } = claims;
  if (active !== true) throw new TokenRefusedError('inactive-token');
  if (iss !== issuer) throw new TokenRefusedError('unknown-issuer');
  refuseOtherTokens(claims);
  refuseOutsideLifetime(claims, context.now());
  if (!hasSubject(claims)) throw new TokenRefusedError('incomplete-claims');
  return claims;
}

/**
 * Attack: some providers answer a text that has not the form of their tokens with an error. As a failure of the
 * provider it would not count as a bad token, and a stranger could send any number.
 */
function introspectionFailure(error: unknown): Error {
  return error instanceof ResponseBodyError && ABOUT_THE_TOKEN.has(error.error)
    ? new TokenRefusedError('inactive-token')
    : providerUnavailable(error);
}

/**
 * Attack: refresh tokens are active too, whatever the hint says, and live for long. Only access tokens have
 * a `token_type` (RFC 6749, section 5.1).
 */
function refuseOtherTokens({ token_type: type }: SourceClaims): void {
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer';
  if (!isBearer) throw new TokenRefusedError('wrong-token-type');
}

/**
 * Returns the claims of userinfo if the token has the scope for it (OpenID Connect Core, section 5.3), and
 * undefined if it has not; no claims if the provider has no userinfo. Rejects if it fails, or is about another
 * user.
 */
export async function userInfoOf(
  token: string,
  claims: VerifiedClaims,
  provider: CompiledIdentityProvider,
  context: VerificationContext,
): Promise<SourceClaims | undefined> {
  if (!scopesOfToken(claims).includes('openid')) return undefined;
  const client = await clientOf(provider, context);
  if (client.serverMetadata().userinfo_endpoint === undefined) return {};
  return fetchUserInfo(client, token, claims.sub).catch((error: unknown) => {
    throw userInfoFailure(error);
  });
}

/** Returns the groups that a provider left out of the claims, if the settings say how to look them up. */
export async function leftOutGroupsOf(
  token: string,
  sources: readonly SourceClaims[],
  provider: CompiledIdentityProvider,
  context: VerificationContext,
): Promise<readonly string[] | undefined> {
  if (provider.groupsLookup === undefined) return undefined;
  const client = await clientOf(provider, context);
  return orUnavailable(lookUpLeftOutGroups(client, token, sources, provider));
}

/** Returns the error for a request to userinfo that failed: it refused the token, or was unavailable. */
export function userInfoFailure(error: unknown): Error {
  if (error instanceof ClientError && error.code === OTHER_SUBJECT) {
    return new TokenRefusedError('other-subject');
  }
  return isRefusal(error) ? new TokenRefusedError('inactive-token') : providerUnavailable(error);
}

function isRefusal(error: unknown): boolean {
  if (error instanceof WWWAuthenticateChallengeError) {
    return error.status === UNAUTHORIZED || error.status === FORBIDDEN;
  }
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Response && [UNAUTHORIZED, FORBIDDEN].includes(cause.status);
}
