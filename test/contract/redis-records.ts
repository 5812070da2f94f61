import { hashToken } from '../../proxy/crypto/tokens.ts';
import type { AuthorizationCode } from '../../proxy/records/authorization-code.ts';
import type { RegisteredClient } from '../../proxy/records/registered-client.ts';
import type { ConsentKey } from '../../proxy/records/consent-key.ts';
import type { Grant } from '../../proxy/records/grant.ts';
import type { BrowserSession } from '../../proxy/records/browser-session.ts';
import type { SignInRecord } from '../../proxy/records/sign-in-record.ts';
import type { Identity, Session } from '../../proxy/records/session.ts';
import type { PendingSignIn } from '../../proxy/records/pending-sign-in.ts';
import type { SignInCode } from '../../proxy/records/sign-in-code.ts';
import type { PendingAuthorization } from '../../proxy/records/pending-authorization.ts';
import type { InternalToken, InternalTokenKey } from '../../proxy/records/internal-token.ts';
import type { PendingConnection } from '../../proxy/records/pending-connection.ts';
import type { UpstreamRegistration } from '../../proxy/records/upstream-registration.ts';
import { anOrigin } from '../support/an-origin.ts';

const ORIGIN = anOrigin('https://mcp.example.com');
const HOUR_MS = 3_600_000;

export const AN_IDENTITY: Identity = {
  provider: 'corp',
  issuer: 'https://idp.example.com',
  subject: 'user-of-the-provider',
  email: 'alice@example.com',
  name: 'Alice',
  groups: ['engineering'],
  claims: { sub: 'user-of-the-provider', email: 'alice@example.com' },
};

export function aSession(id: string, now: number): Session {
  const lifetime = { createdAt: now, expiresAt: now + HOUR_MS };
  return { id, signInId: 'sign-in-1', identity: AN_IDENTITY, ...lifetime };
}

export function aBrowserSession(sessionId: string): BrowserSession {
  return { sessionId, origin: ORIGIN };
}

export function aSignIn(id: string): SignInRecord {
  return {
    id,
    provider: { name: 'corp', issuer: 'https://idp.example.com', clientId: 'gatehouse' },
    identity: AN_IDENTITY,
    sessionId: 'session-1',
    refreshToken: 'provider-refresh-token',
  };
}

export const A_PENDING_SIGN_IN: PendingSignIn = {
  targetOrigin: ORIGIN,
  returnPath: '/reports',
  targetHash: hashToken('target'),
  authenticateHash: hashToken('browser'),
  provider: 'corp',
  issuer: 'https://idp.example.com',
  nonce: 'a-nonce',
  codeVerifier: 'a-code-verifier',
};

export const A_SIGN_IN_CODE: SignInCode = {
  sessionId: 'session-1',
  targetOrigin: ORIGIN,
  returnPath: '/reports',
  targetHash: hashToken('target'),
};

export const A_PENDING_AUTHORIZATION: PendingAuthorization = {
  issuer: ORIGIN,
  clientId: 'client-1',
  redirectUri: 'http://127.0.0.1:5000/callback',
  redirectUriWasSent: true,
  resource: `${ORIGIN}/`,
  scopes: ['mcp'],
  codeChallenge: 'a-code-challenge',
  state: 'a-client-state',
  askAgain: false,
};

export function aClient(id: string): RegisteredClient {
  return {
    id,
    issuer: ORIGIN,
    secretHash: hashToken('a-secret'),
    metadata: {
      clientName: 'Inspector',
      clientUri: 'https://inspector.example.com',
      redirectUris: ['http://127.0.0.1/callback'],
      tokenEndpointAuthMethod: 'private_key_jwt',
      grantTypes: ['authorization_code', 'refresh_token'],
      applicationType: 'native',
      scope: 'mcp',
      jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'a-public-key' }] },
    },
    registeredAt: Date.UTC(2026, 0, 1),
  };
}

export function anAuthorizationCode(grantId: string): AuthorizationCode {
  return {
    issuer: ORIGIN,
    clientId: 'client-1',
    redirectUri: 'http://127.0.0.1:5000/callback',
    redirectUriWasSent: true,
    codeChallenge: 'a-code-challenge',
    sessionId: 'session-1',
    resource: `${ORIGIN}/`,
    scopes: ['mcp'],
    grantId,
  };
}

export function aGrant(id: string): Grant {
  return {
    id,
    issuer: ORIGIN,
    clientId: 'client-1',
    signInId: 'sign-in-1',
    resource: `${ORIGIN}/`,
    scopes: ['mcp'],
  };
}

export const A_CONSENT: ConsentKey = {
  provider: 'corp',
  providerIssuer: 'https://idp.example.com',
  subject: 'user-of-the-provider',
  issuer: ORIGIN,
  clientId: 'https://client.example.com/metadata.json',
  redirectUri: 'https://client.example.com/callback',
  resource: `${ORIGIN}/`,
  scopes: ['mcp'],
};

export function anInternalTokenKey(routeId: string): InternalTokenKey {
  return { user: AN_IDENTITY, routeId, binding: 'binding-1' };
}

export const AN_INTERNAL_TOKEN: InternalToken = {
  accessToken: 'upstream-access-token',
  refreshToken: 'upstream-refresh-token',
  expiresAt: Date.UTC(2026, 0, 1, 1),
  issuedAt: Date.UTC(2026, 0, 1),
  issuer: 'https://as.example.com',
  resource: 'https://upstream.example.com/mcp',
  clientId: 'client-of-the-gateway',
  redirectUri: 'https://files.example.com/.gateway/mcp/client/oauth/callback',
  scopes: ['read', 'write'],
};

export const A_PENDING_CONNECTION: PendingConnection = {
  user: { provider: 'corp', issuer: 'https://idp.example.com', subject: 'user-of-the-provider' },
  sessionId: 'session-1',
  browserHash: hashToken('binding-cookie'),
  routeName: 'tools',
  routeId: 'route-1',
  binding: 'binding-1',
  issuer: 'https://as.example.com',
  clientId: 'client-of-the-gateway',
  resource: 'https://upstream.example.com/mcp',
  scopes: ['read'],
  codeVerifier: 'a-code-verifier',
  redirectUri: `${ORIGIN}/.gateway/mcp/client/oauth/callback`,
  requiresIss: true,
  returnTo: { kind: 'authorization', pending: A_PENDING_AUTHORIZATION },
};

export function aRegistrationKey(issuer: string): { issuer: string; redirectUri: string } {
  return { issuer, redirectUri: `${ORIGIN}/.gateway/mcp/client/oauth/callback` };
}

export const AN_UPSTREAM_REGISTRATION: UpstreamRegistration = {
  clientId: 'client-of-the-gateway',
  clientSecret: 'upstream-client-secret',
  secretExpiresAt: Date.UTC(2027, 0, 1),
  authMethod: 'client_secret_basic',
  registeredAt: Date.UTC(2026, 0, 1),
};

export const A_CONNECTION_NEED = { scopes: ['admin'] };
