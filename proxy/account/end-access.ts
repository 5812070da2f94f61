import { endSignInWithId } from '../identity/session/end-sign-in.ts';
import type { AccountOptions } from './account-options.ts';
import { grantsOf } from './approved-clients.ts';
import { revokeGrants, type Ending } from './revoke-grants.ts';

/** How much ended. */
export interface EndedAccess {
  readonly signIns: number;
  readonly grants: number;
}

/**
 * Ends every sign-in of a user, with its sessions in all browsers and on all hosts, and every grant. Nothing can
 * be made from them again. `known` are sign-ins of the user that may have begun before there were lists.
 */
export async function endAccess(
  known: readonly string[],
  ending: Ending,
  options: Pick<AccountOptions, 'stores' | 'audit'>,
): Promise<EndedAccess> {
  const { stores } = options;
  const { identity } = ending;
  const listed = (await stores.signInsOfUsers.list(identity)).map(({ id }) => id);
  const ids = [...new Set([...listed, ...known])];
  const ended = await Promise.all(ids.map((id) => endKnownSignIn(id, ending, options)));
  const grants = await grantsOf(identity, stores);
  await revokeGrants(grants, ending, options);
  await stores.signInsOfUsers.remove(identity, ids);
  return { signIns: ended.filter(Boolean).length, grants: grants.length };
}

/** Ends a sign-in, with its sessions. Returns whether it was there. */
export async function endKnownSignIn(
  signInId: string,
  { identity, reason, context }: Ending,
  { stores, audit }: Pick<AccountOptions, 'stores' | 'audit'>,
): Promise<boolean> {
  if ((await endSignInWithId(signInId, stores)) === null) return false;
  audit.write('sign-in-ended', context, { identity, signInId, reason });
  return true;
}
