import type { Client } from '../../records/client.ts';
import type { Grant } from '../../records/grant.ts';
import type { AuditDetails } from '../../telemetry/audit-log.ts';

/** Returns what the audit log says about a grant and its client. */
export function auditDetailsOf(
  { id: grantId, issuer, resource, scopes, signInId }: Grant,
  client: Client,
): AuditDetails {
  const { clientName } = client.metadata;
  return { issuer, clientId: client.id, clientName, resource, scopes, grantId, signInId };
}
