import { hashToken } from '../../crypto/tokens.ts';
import { UnauthorizedClientError } from '../../errors/oauth-errors.ts';
import type { EndpointHandler } from '../../http/endpoint.ts';
import { json } from '../../http/responses.ts';
import type { Stores } from '../../store/stores.ts';
import { authenticateFormClient, type ClientAuthentication } from '../authenticate-form-client.ts';
import type { Client } from '../clients/client.ts';
import type { ExternalTokens } from '../external-token.ts';
import { isRefreshToken } from '../grants/refresh-token.ts';
import { revokeGrant } from '../grants/revoke-grant.ts';
import { requiredParameter } from '../parameters.ts';

interface Dependencies extends ClientAuthentication {
  readonly stores: Stores;
  readonly externalTokens: ExternalTokens;
  readonly now: () => number;
}

/** Whose token it must be: this client's, from this issuer. */
interface Owner {
  readonly client: Client;
  readonly issuer: string;
  readonly gatewayId: string;
}

/**
 * The revocation endpoint. A refresh token takes its whole grant with it, an access token only
 * itself; a token that is unknown is as good as revoked.
 *
 * The form of a token says which kind it is, so `token_type_hint` is not needed.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc7009#section-2 RFC 7009, section 2}
 */
export function createRevokeEndpoint(dependencies: Dependencies): EndpointHandler {
  return async (context) => {
    const { client, parameters } = await authenticateFormClient(context, dependencies);
    const token = requiredParameter(parameters, 'token');
    const { gatewayId } = context.configuration.settings;
    const owner = { client, issuer: context.origin, gatewayId };
    if (isRefreshToken(token)) await revokeRefreshToken(token, owner, dependencies);
    else await revokeExternalToken(token, owner, dependencies);
    return json(200, {});
  };
}

async function revokeRefreshToken(
  token: string,
  { client, issuer }: Owner,
  { stores }: Dependencies,
): Promise<void> {
  const record = await stores.refreshTokens.get(hashToken(token));
  const grant = record === null ? null : await stores.grants.get(record.grantId);
  if (grant?.issuer !== issuer) return;
  refuseOtherClient(grant.clientId, client);
  await revokeGrant(stores, grant.id);
}

async function revokeExternalToken(
  token: string,
  { client, issuer, gatewayId }: Owner,
  { stores, externalTokens, now }: Dependencies,
): Promise<void> {
  const claims = externalTokens.open(token);
  if (claims?.issuer !== issuer || claims.gatewayId !== gatewayId) return;
  refuseOtherClient(claims.clientId, client);
  const secondsLeft = Math.ceil((claims.expiresAt - now()) / 1000);
  if (secondsLeft <= 0) return;
  await stores.revokedTokens.revoke(claims.tokenId, secondsLeft);
  await stores.revocations.publish({ kind: 'token', jwtId: claims.tokenId });
}

/** RFC 7009, section 2.1: a token that was issued to another client is refused. */
function refuseOtherClient(owner: string, { id }: Client): void {
  if (owner !== id) throw new UnauthorizedClientError('the token is not of this client');
}
