import { revokeGrant } from '../authorization-server/grants/revoke-grant.ts';
import type { Grant } from '../records/grant.ts';
import type { Identity, Session } from '../records/session.ts';
import type { UserReference } from '../records/user-key.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditContext } from '../telemetry/audit-log.ts';
import type { AccountOptions } from './account-options.ts';

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
async function grantsOf(
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
  await revokeGrants(ofClient, 'user-request', { identity, context }, options);
}

/** Revokes every grant of a user, and forgets the consents. */
export async function revokeClients(
  identity: Identity,
  context: AuditContext,
  options: AccountOptions,
): Promise<void> {
  const grants = await grantsOf(identity, options.stores);
  await revokeGrants(grants, 'signed-out-everywhere', { identity, context }, options);
}

async function revokeGrants(
  grants: readonly Grant[],
  reason: string,
  { identity, context }: { readonly identity: Identity; readonly context: AuditContext },
  { stores, audit }: AccountOptions,
): Promise<void> {
  await Promise.all(
    grants.map(async (grant) => {
      await revokeGrant(stores, grant.id);
      // Or the client would get the next grant without a question.
      await forgetConsent(grant, identity, stores);
      const { id: grantId, issuer, clientId, clientName, resource, scopes, signInId } = grant;
      const details = { identity, issuer, clientId, clientName, resource, scopes, signInId };
      audit.write('grant-revoked', context, { ...details, grantId, reason });
    }),
  );
  const ids = grants.map(({ id }) => id);
  if (ids.length > 0) await stores.grantsOfUsers.remove(identity, ids);
}

async function forgetConsent(
  { issuer, clientId, redirectUri, resource, scopes }: Grant,
  { provider, issuer: providerIssuer, subject }: Identity,
  { consents }: Pick<Stores, 'consents'>,
): Promise<void> {
  if (redirectUri === undefined) return;
  const user = { provider, providerIssuer, subject };
  await consents.forget({ ...user, issuer, clientId, redirectUri, resource, scopes });
}
