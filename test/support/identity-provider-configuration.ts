import { randomBytes } from 'node:crypto';

import { exportJWK, type JWK } from 'jose';
import type { Configuration } from 'oidc-provider';

import { MemoryAdapter } from '../../cli/demo/identity-provider/memory-adapter.ts';
import type { IssuerKey } from './token-issuer.ts';

type Claims = Readonly<Record<string, unknown>>;

/** The client of the gateway, and another application of the same provider. */
export const CLIENT_ID = 'gatehouse';
export const OTHER_CLIENT_ID = 'other-application';

/** Where applications other than gateways get their codes. Nothing listens there. */
export const REDIRECT_URI = 'http://application.localhost/callback';

/** Access tokens for resources that begin so are JWTs; others are opaque. */
const JWT_RESOURCES = 'https://jwt.';

/** Path of the pages where users sign in. */
export const INTERACTION = '/interaction/';

/** Scopes of the users' claims. */
export const SCOPES = 'openid email profile groups';

/** What a provider supports, and how. */
export interface ProviderFeatures {
  /** Whether claims of scopes are in the identity token too, and not only at userinfo. */
  readonly claimsInIdToken?: boolean;
  /**
   * Whether it gives refresh tokens, and how often one can be used: a `rotated` one works once, and its
   * second use ends every token that came from it. Defaults to no refresh tokens.
   */
  readonly refreshTokens?: 'none' | 'kept' | 'rotated';
  /** Whether it has an endpoint for token introspection (RFC 7662). Defaults to false. */
  readonly introspection?: boolean;
  /** Whether userinfo is a signed JWT. Defaults to false. */
  readonly signedUserInfo?: boolean;
}

/** Returns the configuration of a provider with some users. */
export async function identityProviderConfiguration(
  users: ReadonlyMap<string, Claims>,
  { clientSecret, keys }: { readonly clientSecret: string; readonly keys: readonly IssuerKey[] },
  features: ProviderFeatures,
): Promise<Configuration> {
  const { claimsInIdToken = false, refreshTokens = 'none' } = features;
  const { introspection = false, signedUserInfo = false } = features;
  const lifetime = 3600;
  const givesRefreshTokens = refreshTokens !== 'none';
  return {
    adapter: MemoryAdapter,
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: clientSecret,
        redirect_uris: ['http://localhost/replaced-by-redirectUris'],
        grant_types: ['authorization_code', ...(givesRefreshTokens ? ['refresh_token'] : [])],
        ...(signedUserInfo && { userinfo_signed_response_alg: 'RS256' }),
      },
      {
        client_id: OTHER_CLIENT_ID,
        client_secret: clientSecret,
        redirect_uris: [REDIRECT_URI],
        ...(signedUserInfo && { userinfo_signed_response_alg: 'RS256' }),
      },
    ],
    jwks: { keys: await Promise.all(keys.map(privateJwk)) },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    scopes: [...SCOPES.split(' '), ...(givesRefreshTokens ? ['offline_access'] : [])],
    issueRefreshToken: () => Promise.resolve(givesRefreshTokens),
    rotateRefreshToken: refreshTokens === 'rotated',
    expiresWithSession: () => Promise.resolve(false),
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    conformIdTokenClaims: !claimsInIdToken,
    pkce: { required: () => true },
    findAccount: (_context, login) => {
      const claims = users.get(login);
      return claims && { accountId: login, claims: () => ({ ...claims, sub: login }) };
    },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: introspection, allowedPolicy: () => true },
      jwtUserinfo: { enabled: signedUserInfo },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => Promise.resolve(true),
        getResourceServerInfo: (_context, resource) => ({
          scope: 'read',
          audience: resource,
          accessTokenFormat: resource.startsWith(JWT_RESOURCES) ? 'jwt' : 'opaque',
        }),
      },
    },
    interactions: { url: (_context, { uid }) => INTERACTION + uid },
    ttl: {
      AccessToken: lifetime,
      AuthorizationCode: 60,
      Grant: lifetime,
      IdToken: lifetime,
      Interaction: lifetime,
      RefreshToken: lifetime,
      Session: lifetime,
    },
    loadExistingGrant: async ({ oidc: { client, params, session, provider } }) => {
      if (client === undefined || session?.accountId === undefined) return undefined;
      const { accountId } = session;
      const grant = new provider.Grant({ clientId: client.clientId, accountId });
      grant.addOIDCScope(SCOPES);
      for (const resource of [params?.['resource']].flat()) {
        if (typeof resource === 'string') grant.addResourceScope(resource, 'read');
      }
      await grant.save();
      return grant;
    },
  };
}

async function privateJwk({ privateKey, publicJwk }: IssuerKey): Promise<JWK> {
  return { ...publicJwk, ...(await exportJWK(privateKey)) };
}
