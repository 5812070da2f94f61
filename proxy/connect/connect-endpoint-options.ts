import type { Logger } from '../../shared/telemetry/logger.ts';
import type { SessionCookieAuthenticator } from '../authentication/session-cookie-authenticator.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import type { RedirectToSignIn } from '../identity/sign-in/redirect-to-sign-in.ts';
import type { PendingAuthorization } from '../records/pending-authorization.ts';
import type { Session } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditLog } from '../telemetry/audit-log.ts';
import type { InternalTokens } from '../upstream-oauth/internal-tokens/internal-tokens.ts';
import type { UpstreamAuthorizations } from '../upstream-oauth/upstream-authorizations.ts';
import type { ConnectLinks } from './connect-links.ts';
import type { ConnectionResult } from './connection-result.ts';

/** Answers the authorization request of an MCP client, after its user has connected or failed to. */
export type FinishAuthorization = (
  pending: PendingAuthorization,
  result: ConnectionResult,
  session: Session,
  context: EndpointContext,
) => Promise<GatewayResponse>;

/** Options of the endpoints by which users connect MCP servers. */
export interface ConnectEndpointOptions {
  readonly stores: Pick<
    Stores,
    'pendingConnections' | 'pendingAuthorizations' | 'connectionNeeds' | 'rateLimits'
  >;
  readonly connectLinks: ConnectLinks;
  readonly sessionCookies: Pick<SessionCookieAuthenticator, 'callerOf'>;
  readonly redirectToSignIn: RedirectToSignIn;
  readonly authorizations: Pick<
    UpstreamAuthorizations,
    'forConnection' | 'forIssuer' | 'forgetRegistration'
  >;
  readonly internalTokens: Pick<InternalTokens, 'isConnected' | 'connect' | 'giveUpScopes'>;
  readonly finishAuthorization: FinishAuthorization;
  /** Allows http on loopback. */
  readonly devAllowLoopback: boolean;
  readonly audit: AuditLog;
  readonly logger: Logger;
}
