import type { SessionCookieAuthenticator } from '../authentication/session-cookie-authenticator.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditLog } from '../telemetry/audit-log.ts';

/** Options of the user's page. */
export interface AccountOptions {
  readonly stores: Stores;
  readonly sessionCookies: Pick<SessionCookieAuthenticator, 'callerOf'>;
  readonly audit: AuditLog;
}
