import type { Identity, Session } from '../../../records/session.ts';
import type { PendingSignIn } from '../../../records/pending-sign-in.ts';
import type { SignInCode } from '../../../records/sign-in-code.ts';
import { isTokenHash } from '../../../crypto/tokens.ts';

import { TOKEN_ENDPOINT_AUTH_METHODS, type ClientMetadata } from '../../../records/client.ts';
import type { PendingAuthorization } from '../../../records/pending-authorization.ts';
import type { AuthorizationCode } from '../../../records/authorization-code.ts';
import type { RegisteredClient } from '../../../records/registered-client.ts';
import type { Grant } from '../../../records/grant.ts';
import type { BrowserSession, TracedSignIn } from '../../../records/browser-session.ts';
import type { SignInRecord } from '../../../records/sign-in-record.ts';
import type { VersionedSignIn } from '../../sign-in-store.ts';
import {
  hasShape,
  isBoolean,
  isListOf,
  isNumber,
  isOneOf,
  isOptional,
  isString,
  isStringList,
  isTextLike,
  type Guard,
} from './guards.ts';
import type { TraceContext } from '../../../../shared/telemetry/tracing/trace-context.ts';
import { isOrigin } from '../../../../shared/snapshot/origin.ts';
import { isRecord } from '../../../../shared/runtime/is-record.ts';

const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;

/** Accepts what records hold of a trace. */
export const isTraceContext = hasShape<TraceContext>({
  traceId: isTextLike(TRACE_ID),
  spanId: isTextLike(SPAN_ID),
  isSampled: isBoolean,
  traceState: isOptional(isString),
});

const isIdentity = hasShape<Identity>({
  provider: isString,
  // Absent in records of earlier releases: their users sign in again. An error would be a 503 instead.
  issuer: isOptional(isString),
  subject: isString,
  email: isOptional(isString),
  name: isOptional(isString),
  groups: isStringList,
  groupsAreUnknown: (value): value is true | undefined => value === true || value === undefined,
  claims: isRecord,
});

/** Accepts session records. */
export const isSession = hasShape<Session>({
  id: isString,
  signInId: isString,
  identity: isIdentity,
  createdAt: isNumber,
  expiresAt: isNumber,
  signInTrace: isOptional(isTraceContext),
});

/** Accepts browser session records. */
export const isBrowserSession = hasShape<BrowserSession>({
  sessionId: isString,
  origin: isOrigin,
  signIn: isOptional(hasShape<TracedSignIn>({ trace: isTraceContext, endedAt: isNumber })),
});

const isSignIn = hasShape<SignInRecord>({
  id: isString,
  provider: hasShape<SignInRecord['provider']>({
    name: isString,
    issuer: isString,
    clientId: isString,
  }),
  identity: isIdentity,
  createdAt: isOptional(isNumber),
  sessionId: isString,
  refreshToken: isOptional(isString),
  accessToken: isOptional(isString),
});

/** Accepts sign-in records with their version. */
export const isVersionedSignIn = hasShape<VersionedSignIn>({
  signIn: isSignIn,
  version: isNumber,
});

/** Accepts records of pending sign-ins. */
export const isPendingSignIn = hasShape<PendingSignIn>({
  targetOrigin: isOrigin,
  returnPath: isString,
  targetHash: isTokenHash,
  authenticateHash: isTokenHash,
  provider: isString,
  issuer: isOptional(isString),
  nonce: isString,
  codeVerifier: isString,
  trace: isOptional(isTraceContext),
});

/** Accepts sign-in code records. */
export const isSignInCode = hasShape<SignInCode>({
  sessionId: isString,
  targetOrigin: isOrigin,
  returnPath: isString,
  targetHash: isTokenHash,
  trace: isOptional(isTraceContext),
});

/** Accepts records of authorization requests that wait for the user. */
export const isPendingAuthorization = hasShape<PendingAuthorization>({
  issuer: isOrigin,
  clientId: isString,
  redirectUri: isString,
  redirectUriWasSent: isOptional(isBoolean),
  resource: isString,
  scopes: isStringList,
  codeChallenge: isString,
  state: isOptional(isString),
  askAgain: isBoolean,
  isSilent: isOptional(isBoolean),
  approvedGrantId: isOptional(isString),
  trace: isOptional(isTraceContext),
});

const isClientMetadata = hasShape<ClientMetadata>({
  clientName: isOptional(isString),
  clientUri: isOptional(isString),
  redirectUris: isStringList,
  tokenEndpointAuthMethod: isOneOf(TOKEN_ENDPOINT_AUTH_METHODS),
  grantTypes: isStringList,
  applicationType: isOptional(isOneOf(['native', 'web'] as const)),
  scope: isOptional(isString),
  jwks: isOptional(hasShape({ keys: isListOf(isRecord) })),
  jwksUri: isOptional(isString),
});

/** Accepts client records. */
export const isRegisteredClient = hasShape<RegisteredClient>({
  id: isString,
  issuer: isString,
  secretHash: isOptional(isTokenHash),
  metadata: isClientMetadata,
  registeredAt: isNumber,
  isUnapproved: isOptional(isTrue),
});

function isTrue(value: unknown): value is true {
  return value === true;
}

/** An authorization code, and whether it was redeemed. */
export interface CodeRecord {
  readonly code: AuthorizationCode;
  readonly isUsed: boolean;
}

const isAuthorizationCode = hasShape<AuthorizationCode>({
  issuer: isString,
  clientId: isString,
  redirectUri: isString,
  redirectUriWasSent: isOptional(isBoolean),
  codeChallenge: isString,
  sessionId: isString,
  resource: isString,
  scopes: isStringList,
  grantId: isString,
  trace: isOptional(isTraceContext),
});

/** Accepts authorization code records. */
export const isCodeRecord: Guard<CodeRecord> = hasShape<CodeRecord>({
  code: isAuthorizationCode,
  isUsed: isBoolean,
});

/** Accepts grant records. */
export const isGrant = hasShape<Grant>({
  id: isString,
  issuer: isString,
  clientId: isString,
  signInId: isString,
  resource: isString,
  scopes: isStringList,
  clientName: isOptional(isString),
  redirectUri: isOptional(isString),
  createdAt: isOptional(isNumber),
  usedAt: isOptional(isNumber),
  signInTrace: isOptional(isTraceContext),
});
