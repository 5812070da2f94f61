import { revokeGrant } from '../authorization-server/grants/revoke-grant.ts';
import type { Grant } from '../records/grant.ts';
import type { Identity } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditContext } from '../telemetry/audit-log.ts';
import type { AccountOptions } from './account-options.ts';

/** Whose access ends, and why, for the audit log. */
export interface Ending {
  readonly identity: Identity;
  readonly reason: string;
  readonly context: AuditContext;
}

/** Revokes these grants of a user, and forgets the consents. */
export async function revokeGrants(
  grants: readonly Grant[],
  { identity, reason, context }: Ending,
  { stores, audit }: Pick<AccountOptions, 'stores' | 'audit'>,
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
