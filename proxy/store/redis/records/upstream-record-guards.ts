import { isTokenHash } from '../../../crypto/tokens.ts';
import type { ConnectionNeed } from '../../../records/connection-need.ts';
import type { InternalToken } from '../../../records/internal-token.ts';
import type { PendingConnection, ReturnTarget } from '../../../records/pending-connection.ts';
import {
  UPSTREAM_AUTH_METHODS,
  type UpstreamRegistration,
} from '../../../records/upstream-registration.ts';
import type { UserConnection, UserEntry } from '../../../records/user-entry.ts';
import type { UserReference } from '../../../records/user-key.ts';
import type { VersionedInternalToken } from '../../internal-token-store.ts';
import {
  hasShape,
  isBoolean,
  isNumber,
  isOneOf,
  isOptional,
  isString,
  isStringList,
  type Guard,
} from './guards.ts';
import { isPendingAuthorization, isTraceContext } from './record-guards.ts';

const isInternalToken = hasShape<InternalToken>({
  accessToken: isString,
  refreshToken: isOptional(isString),
  expiresAt: isOptional(isNumber),
  issuedAt: isNumber,
  issuer: isString,
  resource: isString,
  clientId: isString,
  redirectUri: isString,
  scopes: isStringList,
});

/** Accepts internal token records with their version. */
export const isVersionedInternalToken = hasShape<VersionedInternalToken>({
  token: isInternalToken,
  version: isNumber,
});

/** Accepts records of needs to connect again. */
export const isConnectionNeed = hasShape<ConnectionNeed>({
  scopes: isStringList,
});

const isUser = hasShape<UserReference>({
  provider: isString,
  issuer: isOptional(isString),
  subject: isString,
});

/** In the order in which they are tried. */
const RETURN_TARGETS: readonly Guard<ReturnTarget>[] = [
  hasShape({ kind: isOneOf(['redirect'] as const), url: isString }),
  hasShape({ kind: isOneOf(['authorization'] as const), pending: isPendingAuthorization }),
  hasShape({ kind: isOneOf(['page'] as const) }),
  hasShape({ kind: isOneOf(['account'] as const) }),
];

function isReturnTarget(value: unknown): value is ReturnTarget {
  return RETURN_TARGETS.some((isTarget) => isTarget(value));
}

/** Accepts records of pending connections. */
export const isPendingConnection = hasShape<PendingConnection>({
  user: isUser,
  sessionId: isString,
  browserHash: isTokenHash,
  routeName: isString,
  routeId: isString,
  binding: isString,
  issuer: isString,
  clientId: isString,
  resource: isString,
  scopes: isStringList,
  codeVerifier: isString,
  redirectUri: isString,
  requiresIss: isBoolean,
  returnTo: isReturnTarget,
  isSecondTry: isOptional(isOneOf([true])),
  trace: isOptional(isTraceContext),
});

/** Accepts registrations at authorization servers of upstreams. */
export const isUpstreamRegistration = hasShape<UpstreamRegistration>({
  clientId: isString,
  clientSecret: isOptional(isString),
  secretExpiresAt: isOptional(isNumber),
  authMethod: isOneOf(UPSTREAM_AUTH_METHODS),
  registeredAt: isNumber,
});

/** Accepts entries of an index of users. */
export const isUserEntry = hasShape<UserEntry>({ id: isString });

/** Accepts entries of the index of connections. */
export const isUserConnection = hasShape<UserConnection>({
  id: isString,
  routeId: isString,
  binding: isString,
  routeName: isString,
});
