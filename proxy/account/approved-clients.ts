import type { Grant } from '../records/grant.ts';
import type { Session } from '../records/session.ts';
import type { UserReference } from '../records/user-key.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditContext } from '../telemetry/audit-log.ts';
import type { AccountOptions } from './account-options.ts';
import { revokeGrants } from './revoke-grants.ts';

/** A client that a user approved, at all hosts. */
export interface ApprovedClient {
  readonly id: string;
  /** The client's own words. */
  readonly name: string | undefined;
  /** The URLs that it may use in the user's name. */
  readonly resources: readonly string[];
  /** When it last got a token, in milliseconds since the epoch; undefined if that is not known. */
  readonly usedAt: number | undefined;
}

/** Returns the clients with a grant of a user, the last used one first. */
export async function approvedClients(
  user: UserReference,
  stores: Pick<Stores, 'grants' | 'grantsOfUsers'>,
): Promise<readonly ApprovedClient[]> {
  const byClient = Map.groupBy(await grantsOf(user, stores), ({ clientId }) => clientId);
  const clients = [...byClient].map(([id, grants]) => clientOf(id, grants));
  return clients.sort((a, b) => (b.usedAt ?? 0) - (a.usedAt ?? 0));
}

function clientOf(id: string, grants: readonly Grant[]): ApprovedClient {
  const uses = grants.flatMap(({ usedAt }) => usedAt ?? []);
  return {
    id,
    name: grants.findLast(({ clientName }) => clientName !== undefined)?.clientName,
    resources: [...new Set(grants.map(({ resource }) => resource))].sort(),
    usedAt: uses.length === 0 ? undefined : Math.max(...uses),
  };
}

/** Returns the live grants of a user, the last used one last. */
export async function grantsOf(
  user: UserReference,
  { grants, grantsOfUsers }: Pick<Stores, 'grants' | 'grantsOfUsers'>,
): Promise<readonly Grant[]> {
  const entries = await grantsOfUsers.list(user);
  const found = await Promise.all(entries.map(({ id }) => grants.get(id)));
  return found.filter((grant) => grant !== null);
}

/** Revokes every grant of a client of this user, and forgets the consent. */
export async function revokeClient(
  clientId: string,
  { identity }: Pick<Session, 'identity'>,
  context: AuditContext,
  options: AccountOptions,
): Promise<void> {
  const grants = await grantsOf(identity, options.stores);
  const ofClient = grants.filter((grant) => grant.clientId === clientId);
  await revokeGrants(ofClient, { identity, reason: 'user-request', context }, options);
}
