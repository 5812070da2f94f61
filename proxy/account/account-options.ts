import type { SessionCookieAuthenticator } from '../authentication/session-cookie-authenticator.ts';
import type { ConnectLinks } from '../connect/connect-links.ts';
import type { UserConnections } from '../mcp-applications/connections.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditLog } from '../telemetry/audit-log.ts';

/** Options of the user's page. */
export interface AccountOptions {
  readonly stores: Stores;
  readonly connections: UserConnections;
  readonly connectLinks: Pick<ConnectLinks, 'urlFor'>;
  readonly sessionCookies: Pick<SessionCookieAuthenticator, 'callerOf'>;
  readonly audit: AuditLog;
}
