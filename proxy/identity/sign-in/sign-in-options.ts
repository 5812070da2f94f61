import type { Sealer } from '../../crypto/sealer.ts';
import type { Stores } from '../../store/stores.ts';
import type { SessionCookieAuthenticator } from '../../authentication/session-cookie-authenticator.ts';
import type { AuditLog } from '../../telemetry/audit-log.ts';
import type { ProviderDiscovery } from '../../identity-provider/provider-discovery.ts';

/** Options of the endpoints of sign-in. */
export interface SignInOptions {
  readonly stores: Pick<
    Stores,
    | 'signIns'
    | 'signInsOfUsers'
    | 'sessions'
    | 'browserSessions'
    | 'pendingSignIns'
    | 'signInCodes'
    | 'revocations'
    | 'revokedTokens'
    | 'rateLimits'
  >;
  readonly sealer: Sealer;
  readonly discovery: ProviderDiscovery;
  readonly sessionCookies: SessionCookieAuthenticator;
  readonly audit: AuditLog;
  readonly now: () => number;
}
