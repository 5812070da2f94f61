import type { EndpointContext } from '../endpoints/endpoint.ts';
import { hashToken, randomToken } from '../crypto/tokens.ts';
import { carriedTrace } from '../http/carried-trace.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { seeOther } from '../http/responses.ts';
import type { Client } from '../records/client.ts';
import type { PendingAuthorization } from '../records/pending-authorization.ts';
import type { Session } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { AuditDetails, AuditLog } from '../telemetry/audit-log.ts';
import { codeRedirect } from './authorization-response.ts';
import { redirectTarget } from './clients/redirect-uri.ts';

/** Short, since the next request redeems the code (RFC 9700, section 4.5). */
const CODE_SECONDS = 60;

/** An authorization request that a user approved. */
export interface ApprovedRequest {
  readonly pending: PendingAuthorization;
  readonly client: Client;
  readonly session: Session;
  /** Id of the grant that the redemption of the code creates. */
  readonly grantId: string;
}

/** Issues a code for an approved request, and returns the redirect that takes it to the client. */
export async function issueCode(
  { pending, client, session, grantId }: ApprovedRequest,
  context: EndpointContext,
  {
    stores,
    audit,
  }: { readonly stores: Pick<Stores, 'authorizationCodes'>; readonly audit: AuditLog },
): Promise<GatewayResponse> {
  const { issuer, clientId, redirectUri, redirectUriWasSent, codeChallenge } = pending;
  const code = randomToken();
  const record = {
    ...{ issuer, clientId, redirectUri, codeChallenge },
    ...(redirectUriWasSent !== undefined && { redirectUriWasSent }),
    sessionId: session.id,
    resource: pending.resource,
    scopes: pending.scopes,
    grantId,
    ...carriedTrace(context.request),
  };
  await stores.authorizationCodes.save(hashToken(code), record, CODE_SECONDS);
  audit.write('code-issued', context, { ...auditDetails({ pending, client, session }), grantId });
  return seeOther(codeRedirect(pending, code));
}

/** Returns what the audit log says of an authorization request. */
export function auditDetails({
  pending,
  client,
  session,
}: Pick<ApprovedRequest, 'pending' | 'client' | 'session'>): AuditDetails {
  const { identity, signInId } = session;
  const { issuer, clientId, redirectUri, resource, scopes } = pending;
  const { clientName } = client.metadata;
  const { address } = redirectTarget(redirectUri);
  const names = { issuer, clientId, clientName, redirectTarget: address };
  return { identity, ...names, resource, scopes, signInId };
}
