import type { PendingSignIn } from '../records/pending-sign-in.ts';
import type { SignInCode } from '../records/sign-in-code.ts';
import type { PendingAuthorization } from '../records/pending-authorization.ts';
import type { PendingConnection } from '../records/pending-connection.ts';
import type { UserConnection, UserEntry } from '../records/user-entry.ts';
import type { AuthorizationCodeStore } from './authorization-code-store.ts';
import type { ClientStore } from './client-store.ts';
import type { ConnectionNeedStore } from './connection-need-store.ts';
import type { ConsentStore } from './consent-store.ts';
import type { GrantStore, RevokedTokenStore } from './grant-store.ts';
import type { InternalTokenStore } from './internal-token-store.ts';
import type { RateLimitStore, ReplayStore } from './rate-limit-store.ts';
import type { RefreshTokenStore } from './refresh-token-store.ts';
import type { Revocations } from './revocations.ts';
import type { BrowserSessionStore, SessionStore } from './session-store.ts';
import type { SignInStore } from './sign-in-store.ts';
import type { SingleUseStore } from './single-use-store.ts';
import type { UpstreamRegistrationStore } from './upstream-registration-store.ts';
import type { UserIndex } from './user-index.ts';

/** The stores of everything that a proxy remembers between requests. */
export interface Stores {
  readonly signIns: SignInStore;
  readonly sessions: SessionStore;
  readonly browserSessions: BrowserSessionStore;
  /** By hash of the `state` sent to the identity provider. */
  readonly pendingSignIns: SingleUseStore<PendingSignIn>;
  /** By hash of the code that carries a sign-in from the authenticate host to a route host. */
  readonly signInCodes: SingleUseStore<SignInCode>;
  /** By random id: authorization requests that wait for the user's consent. */
  readonly pendingAuthorizations: SingleUseStore<PendingAuthorization, string>;
  readonly clients: ClientStore;
  readonly authorizationCodes: AuthorizationCodeStore;
  readonly grants: GrantStore;
  readonly revokedTokens: RevokedTokenStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly consents: ConsentStore;
  readonly internalTokens: InternalTokenStore;
  readonly connectionNeeds: ConnectionNeedStore;
  /** By hash of the `state` sent to the authorization server of an upstream. */
  readonly pendingConnections: SingleUseStore<PendingConnection>;
  readonly upstreamRegistrations: UpstreamRegistrationStore;
  readonly signInsOfUsers: UserIndex<UserEntry>;
  readonly grantsOfUsers: UserIndex<UserEntry>;
  readonly connectionsOfUsers: UserIndex<UserConnection>;
  readonly rateLimits: RateLimitStore;
  readonly replays: ReplayStore;
  readonly revocations: Revocations;
}
