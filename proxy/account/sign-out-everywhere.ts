import { endSignInWithId } from '../identity/session/end-sign-in.ts';
import type { Session } from '../records/session.ts';
import type { AuditContext } from '../telemetry/audit-log.ts';
import type { AccountOptions } from './account-options.ts';
import { revokeClients } from './approved-clients.ts';

/**
 * Ends every sign-in of a user, with its sessions in all browsers and on all hosts, and every grant. Nothing can
 * be made from them again.
 */
export async function signOutEverywhere(
  { id: sessionId, identity, signInId }: Session,
  context: AuditContext,
  options: AccountOptions,
): Promise<void> {
  const { stores, audit } = options;
  const listed = (await stores.signInsOfUsers.list(identity)).map(({ id }) => id);
  // The one of this session may have begun before there were lists.
  const ids = [...new Set([...listed, signInId])];
  await Promise.all(
    ids.map(async (id) => {
      const ended = await endSignInWithId(id, stores);
      if (ended === null) return;
      const reason = 'signed-out-everywhere';
      audit.write('sign-in-ended', context, { identity, signInId: id, reason });
    }),
  );
  // Its sign-in may have been renewed, or be gone already.
  await stores.sessions.revoke(sessionId);
  await stores.revocations.publish({ kind: 'session', sessionId });
  await revokeClients(identity, context, options);
  await stores.signInsOfUsers.remove(identity, ids);
}
