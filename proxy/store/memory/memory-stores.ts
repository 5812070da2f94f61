import type { Stores } from '../stores.ts';
import type { Now } from '../../cache/expiring-map.ts';
import { MemoryAuthorizationCodeStore } from './memory-authorization-code-store.ts';
import { MemoryBrowserSessionStore } from './memory-browser-session-store.ts';
import { MemoryClientStore } from './memory-client-store.ts';
import { MemoryConnectionNeedStore } from './memory-connection-need-store.ts';
import { MemoryConsentStore } from './memory-consent-store.ts';
import { MemoryGrantStore } from './memory-grant-store.ts';
import { MemoryInternalTokenStore } from './memory-internal-token-store.ts';
import { MemoryRateLimitStore } from './memory-rate-limit-store.ts';
import { MemoryRefreshTokenStore } from './memory-refresh-token-store.ts';
import { MemoryReplayStore } from './memory-replay-store.ts';
import { MemoryRevocations } from './memory-revocations.ts';
import { MemoryRevokedTokenStore } from './memory-revoked-token-store.ts';
import { MemorySessionStore } from './memory-session-store.ts';
import { MemorySignInStore } from './memory-sign-in-store.ts';
import { MemorySingleUseStore } from './memory-single-use-store.ts';
import { MemoryUpstreamRegistrationStore } from './memory-upstream-registration-store.ts';
import { MemoryUserIndex } from './memory-user-index.ts';

/**
 * Creates stores in the memory of one process, which end with it.
 *
 * Atomicity comes from the single thread: no store awaits between its read and its write.
 */
export function createMemoryStores(now: Now = Date.now): Stores {
  return {
    signIns: new MemorySignInStore(now),
    sessions: new MemorySessionStore(now),
    browserSessions: new MemoryBrowserSessionStore(now),
    pendingSignIns: new MemorySingleUseStore(now),
    signInCodes: new MemorySingleUseStore(now),
    pendingAuthorizations: new MemorySingleUseStore(now),
    clients: new MemoryClientStore(now),
    authorizationCodes: new MemoryAuthorizationCodeStore(now),
    grants: new MemoryGrantStore(now),
    revokedTokens: new MemoryRevokedTokenStore(now),
    refreshTokens: new MemoryRefreshTokenStore(now),
    consents: new MemoryConsentStore(now),
    internalTokens: new MemoryInternalTokenStore(now),
    connectionNeeds: new MemoryConnectionNeedStore(now),
    pendingConnections: new MemorySingleUseStore(now),
    upstreamRegistrations: new MemoryUpstreamRegistrationStore(now),
    signInsOfUsers: new MemoryUserIndex(now),
    grantsOfUsers: new MemoryUserIndex(now),
    connectionsOfUsers: new MemoryUserIndex(now),
    rateLimits: new MemoryRateLimitStore(now),
    replays: new MemoryReplayStore(now),
    revocations: new MemoryRevocations(),
  };
}
