import { endAccess, endKnownSignIn } from '../../proxy/account/end-access.ts';
import { grantsOf } from '../../proxy/account/approved-clients.ts';
import { revokeGrants, type Ending } from '../../proxy/account/revoke-grants.ts';
import { revokeGrant } from '../../proxy/authorization-server/grants/revoke-grant.ts';
import type { Grant } from '../../proxy/records/grant.ts';
import type { Identity } from '../../proxy/records/session.ts';
import { userKey } from '../../proxy/records/user-key.ts';
import { isChosen, type UserChoice } from '../flags/user-flags.ts';
import type { OperatorState } from './open-operator-state.ts';
import { OPERATOR_REQUEST, type OperatorAudit } from './operator.ts';

/** A user, and what of theirs is known. */
export interface FoundUser {
  readonly identity: Identity;
  readonly signInIds: readonly string[];
  readonly grantCount: number;
}

/** Something that an id names. */
export type FoundSession =
  | { readonly kind: 'sign-in'; readonly id: string; readonly identity: Identity }
  | {
      readonly kind: 'grant';
      readonly id: string;
      readonly grant: Grant;
      /** Undefined if its sign-in has ended, so that the grant is of no use. */
      readonly identity: Identity | undefined;
    };

/** Finds the users who are signed in and fit. */
export async function findUsers(
  { inventory }: OperatorState,
  choice: UserChoice,
): Promise<{ readonly users: readonly FoundUser[]; readonly unreadable: number }> {
  const found = new Map<string, { identity: Identity; signInIds: Set<string> }>();
  let unreadable = 0;
  for await (const page of inventory.signIns()) {
    unreadable += page.unreadable;
    for (const { value } of page.records) {
      const { id, identity } = value;
      if (!isChosen(identity, choice)) continue;
      const key = userKey(identity);
      const user = found.get(key) ?? { identity, signInIds: new Set() };
      found.set(key, { identity, signInIds: user.signInIds.add(id) });
    }
  }
  const users = await Promise.all(
    [...found.values()].map(async ({ identity, signInIds }) => {
      const { records } = await inventory.grantsOf(identity);
      return { identity, signInIds: [...signInIds], grantCount: records.length };
    }),
  );
  return { users, unreadable };
}

/** Finds what an id names; undefined if it names nothing, or has ended. */
export async function findSession(
  id: string,
  { stores: { signIns, grants } }: OperatorState,
): Promise<FoundSession | undefined> {
  const [signIn, grant] = await Promise.all([signIns.get(id), grants.get(id)]);
  if (signIn !== null) return { kind: 'sign-in', id, identity: signIn.signIn.identity };
  if (grant === null) return undefined;
  const identity = (await signIns.get(grant.signInId))?.signIn.identity;
  return { kind: 'grant', id, grant, identity };
}

/** Ends everything of a user, as a sign-out everywhere does. */
export async function endUser(
  { identity, signInIds }: FoundUser,
  { stores }: OperatorState,
  { audit, context }: OperatorAudit,
): Promise<void> {
  const ending = { identity, reason: OPERATOR_REQUEST, context };
  await endAccess(signInIds, ending, { stores, audit });
}

/** Ends a sign-in with the clients that were approved during it, or one of these. */
export async function endSession(
  found: FoundSession,
  { stores }: OperatorState,
  { audit, context }: OperatorAudit,
): Promise<void> {
  const { id, identity } = found;
  const options = { stores, audit };
  if (identity === undefined) {
    await revokeGrant(stores, id);
    audit.write('grant-revoked', context, { grantId: id, reason: OPERATOR_REQUEST });
    return;
  }
  const ending: Ending = { identity, reason: OPERATOR_REQUEST, context };
  if (found.kind === 'grant') {
    await revokeGrants([found.grant], ending, options);
    return;
  }
  await endKnownSignIn(id, ending, options);
  const grants = await grantsOf(identity, stores);
  await revokeGrants(
    grants.filter(({ signInId }) => signInId === id),
    ending,
    options,
  );
  await stores.signInsOfUsers.remove(identity, [id]);
}
