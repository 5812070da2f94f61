import type { Sealer } from '../../../crypto/sealer.ts';
import type { Stores } from '../../stores.ts';
import { isPendingAuthorization, isPendingSignIn, isSignInCode } from '../records/record-guards.ts';
import {
  isPendingConnection,
  isUserConnection,
  isUserEntry,
} from '../records/upstream-record-guards.ts';
import { RedisAuthorizationCodeStore } from './redis-authorization-code-store.ts';
import { RedisBrowserSessionStore } from './redis-browser-session-store.ts';
import { RedisClientStore } from './redis-client-store.ts';
import type { RedisMessaging } from '../connection/redis-commands.ts';
import { RedisConnectionNeedStore } from './redis-connection-need-store.ts';
import { RedisConsentStore } from './redis-consent-store.ts';
import { RedisGrantStore } from './redis-grant-store.ts';
import { RedisInternalTokenStore } from './redis-internal-token-store.ts';
import { RedisRateLimitStore } from './redis-rate-limit-store.ts';
import { RedisRefreshTokenStore } from './redis-refresh-token-store.ts';
import { RedisReplayStore } from './redis-replay-store.ts';
import { RedisRevocations } from './redis-revocations.ts';
import { RedisRevokedTokenStore } from './redis-revoked-token-store.ts';
import { RedisSessionStore } from './redis-session-store.ts';
import { RedisSignInStore } from './redis-sign-in-store.ts';
import { RedisSingleUseStore } from './redis-single-use-store.ts';
import { RedisUpstreamRegistrationStore } from './redis-upstream-registration-store.ts';
import { RedisUserIndex } from './redis-user-index.ts';

/**
 * Creates the stores that all proxies on one Redis share. SCHEMA.md describes every key.
 *
 * Each atomic operation is one command or one script. Lifetimes run by the clock of Redis.
 */
export function createRedisStores(connection: RedisMessaging, sealer: Sealer): Stores {
  return {
    signIns: new RedisSignInStore(connection, sealer),
    sessions: new RedisSessionStore(connection, sealer),
    browserSessions: new RedisBrowserSessionStore(connection, sealer),
    pendingSignIns: new RedisSingleUseStore(connection, {
      sealer,
      kind: 'pending-sign-in',
      isValue: isPendingSignIn,
    }),
    signInCodes: new RedisSingleUseStore(connection, {
      sealer,
      kind: 'sign-in-code',
      isValue: isSignInCode,
    }),
    pendingAuthorizations: new RedisSingleUseStore(connection, {
      sealer,
      kind: 'pending-authorization',
      isValue: isPendingAuthorization,
    }),
    clients: new RedisClientStore(connection, sealer),
    authorizationCodes: new RedisAuthorizationCodeStore(connection, sealer),
    grants: new RedisGrantStore(connection, sealer),
    revokedTokens: new RedisRevokedTokenStore(connection),
    refreshTokens: new RedisRefreshTokenStore(connection),
    consents: new RedisConsentStore(connection, sealer),
    internalTokens: new RedisInternalTokenStore(connection, sealer),
    connectionNeeds: new RedisConnectionNeedStore(connection, sealer),
    pendingConnections: new RedisSingleUseStore(connection, {
      sealer,
      kind: 'pending-connection',
      isValue: isPendingConnection,
    }),
    upstreamRegistrations: new RedisUpstreamRegistrationStore(connection, sealer),
    signInsOfUsers: new RedisUserIndex(connection, {
      sealer,
      kind: 'user-sign-ins',
      isEntry: isUserEntry,
    }),
    grantsOfUsers: new RedisUserIndex(connection, {
      sealer,
      kind: 'user-grants',
      isEntry: isUserEntry,
    }),
    connectionsOfUsers: new RedisUserIndex(connection, {
      sealer,
      kind: 'user-connections',
      isEntry: isUserConnection,
    }),
    rateLimits: new RedisRateLimitStore(connection),
    replays: new RedisReplayStore(connection),
    revocations: new RedisRevocations(connection),
  };
}
