import type { Session } from '../records/session.ts';
import type { AuditContext } from '../telemetry/audit-log.ts';
import type { AccountOptions } from './account-options.ts';
import { endAccess } from './end-access.ts';

/** Ends all access of the user of a session, as `endAccess` does. */
export async function signOutEverywhere(
  { id: sessionId, identity, signInId }: Session,
  context: AuditContext,
  options: AccountOptions,
): Promise<void> {
  await endAccess([signInId], { identity, reason: 'signed-out-everywhere', context }, options);
  // Its sign-in may have been renewed, or be gone already.
  await options.stores.sessions.revoke(sessionId);
  await options.stores.revocations.publish({ kind: 'session', sessionId });
}
