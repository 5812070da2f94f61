import { revokeGrants } from '../../proxy/account/revoke-grants.ts';
import type { RegisteredClient } from '../../proxy/records/registered-client.ts';
import { userKey } from '../../proxy/records/user-key.ts';
import type { UserChoice } from '../flags/user-flags.ts';
import { grantsOfUsers, type GrantOfUser } from './client-rows.ts';
import type { OperatorState } from './open-operator-state.ts';
import { OPERATOR_REQUEST, type OperatorAudit } from './operator.ts';

/** What there is of some clients. */
export interface FoundClients {
  readonly ids: readonly string[];
  readonly users: UserChoice;
  readonly grants: readonly GrantOfUser[];
  /** Empty if users were chosen: a registration is of nobody. */
  readonly registrations: readonly RegisteredClient[];
  readonly unreadable: number;
}

/** Finds the grants of clients by the users who fit; without a choice of users, their registrations too. */
export async function findClients(
  ids: readonly string[],
  state: OperatorState,
  users: UserChoice,
): Promise<FoundClients> {
  const registrations: RegisteredClient[] = [];
  const found = await findGrants(ids, state, users);
  const { grants } = found;
  let { unreadable } = found;
  if (Object.keys(users).length === 0) {
    for await (const page of state.inventory.clients()) {
      unreadable += page.unreadable;
      const named = page.records.filter(({ value }) => ids.includes(value.id));
      registrations.push(...named.map(({ value }) => value));
    }
  }
  return { ids, users, grants, registrations, unreadable };
}

async function findGrants(
  ids: readonly string[],
  state: OperatorState,
  users: UserChoice,
): Promise<{ readonly grants: readonly GrantOfUser[]; readonly unreadable: number }> {
  const grants: GrantOfUser[] = [];
  let unreadable = 0;
  for await (const page of grantsOfUsers(state, users)) {
    unreadable += page.unreadable;
    grants.push(...page.grants.filter(({ grant }) => ids.includes(grant.clientId)));
  }
  return { grants, unreadable };
}

/**
 * Ends clients: their registrations first, so that they get no further grant meanwhile, and then their grants.
 * These are looked for again: some may be newer than the answer of the operator.
 */
export async function endClients(
  { ids, users, registrations }: FoundClients,
  state: OperatorState,
  { audit, context }: OperatorAudit,
): Promise<void> {
  const { stores } = state;
  for (const { id: clientId, issuer, metadata } of registrations) {
    if (!(await stores.clients.remove(issuer, clientId))) continue;
    const { clientName } = metadata;
    const details = { clientId, clientName, issuer, reason: OPERATOR_REQUEST };
    audit.write('client-removed', context, details);
  }
  const { grants } = await findGrants(ids, state, users);
  const byUser = Map.groupBy(grants, ({ identity }) => userKey(identity));
  for (const ofUser of byUser.values()) {
    const [{ identity } = { identity: undefined }] = ofUser;
    if (identity === undefined) continue;
    const ending = { identity, reason: OPERATOR_REQUEST, context };
    await revokeGrants(
      ofUser.map(({ grant }) => grant),
      ending,
      { stores, audit },
    );
  }
}
