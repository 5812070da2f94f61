import { UnauthorizedClientError } from '../../errors/oauth-errors.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { json } from '../../http/responses.ts';
import type { Stores } from '../../store/stores.ts';
import { authenticateFormClient, type ClientAuthentication } from '../authenticate-form-client.ts';
import type { Client } from '../../records/client.ts';
import type { ExternalTokenClaims, ExternalTokens } from '../../authentication/external-tokens.ts';
import { isGatewayToken } from '../../crypto/gateway-token.ts';
import type { RefreshTokens } from '../grants/refresh-tokens.ts';
import type { AuditContext, AuditLog } from '../../telemetry/audit-log.ts';
import { auditDetailsOf } from '../grants/audit-details.ts';
import { revokeGrant } from '../grants/revoke-grant.ts';
import { requiredParameter } from '../parameters.ts';

/** How far apart the clocks of proxies may be. */
const CLOCK_SKEW_SECONDS = 600;

const SECOND = 1000;

/** Options of the revocation endpoint. */
export interface RevokeOptions extends ClientAuthentication {
  readonly audit: AuditLog;
  readonly stores: Stores;
  readonly externalTokens: ExternalTokens;
  readonly refreshTokens: RefreshTokens;
}

/** The client, issuer and gateway that a token must belong to. */
interface Owner {
  readonly client: Client;
  readonly issuer: string;
  readonly gatewayId: string;
  readonly context: AuditContext;
}

/**
 * The revocation endpoint. Revoking a refresh token revokes its whole grant; revoking an external token
 * revokes only that token. An unknown token counts as revoked.
 *
 * The prefix of a token shows its kind, so `token_type_hint` is not needed.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7009#section-2 RFC 7009, section 2}
 */
export function createRevokeEndpoint(options: RevokeOptions): Endpoint {
  return {
    methods: ['POST'],
    audience: 'oauth',
    crossOrigin: true,
    handle: (context) => revoke(context, options),
  };
}

async function revoke(context: EndpointContext, options: RevokeOptions): Promise<GatewayResponse> {
  const { client, parameters } = await authenticateFormClient(context, options);
  const token = requiredParameter(parameters, 'token');
  const { gatewayId } = context.configuration.settings;
  const owner = { client, issuer: context.origin, gatewayId, context };
  if (isGatewayToken('refresh', token)) await revokeRefreshToken(token, owner, options);
  else await revokeExternalToken(token, owner, options);
  return json(200, {});
}

async function revokeRefreshToken(
  token: string,
  { client, issuer, context }: Owner,
  { stores, refreshTokens, audit }: RevokeOptions,
): Promise<void> {
  // A token that was rotated or lost identifies its grant as well as the current one does.
  const reference = refreshTokens.open(token);
  const grant = reference === null ? null : await stores.grants.get(reference.grantId);
  if (grant?.issuer !== issuer) return;
  refuseOtherClient(grant.clientId, client);
  await revokeGrant(stores, grant.id);
  const details = { ...auditDetailsOf(grant, client), reason: 'client-request' };
  audit.write('grant-revoked', context, details);
}

async function revokeExternalToken(
  token: string,
  { client, issuer, gatewayId, context }: Owner,
  { stores, externalTokens, audit }: RevokeOptions,
): Promise<void> {
  const claims = externalTokens.open(token);
  if (claims?.issuer !== issuer || claims.gatewayId !== gatewayId) return;
  refuseOtherClient(claims.clientId, client);
  const { tokenId, grantId, clientId, audience: resource } = claims;
  // A client that repeats itself must not keep every proxy busy.
  if (await stores.revokedTokens.isRevoked(tokenId)) return;
  await stores.revokedTokens.revoke(tokenId, revocationSecondsOf(claims), grantId);
  await stores.revocations.publish({ kind: 'token', tokenId });
  audit.write('token-revoked', context, { issuer, clientId, resource, grantId, tokenId });
}

/**
 * Returns how long the revocation of a token is remembered: the whole lifetime of the token, because the
 * clock of another proxy may show the time of its issue.
 */
function revocationSecondsOf({ issuedAt, expiresAt }: ExternalTokenClaims): number {
  return Math.ceil((expiresAt - issuedAt) / SECOND) + CLOCK_SKEW_SECONDS;
}

/** RFC 7009, section 2.1: a token that was issued to another client is refused. */
function refuseOtherClient(owner: string, { id }: Client): void {
  if (owner !== id) throw new UnauthorizedClientError('the token belongs to another client');
}
