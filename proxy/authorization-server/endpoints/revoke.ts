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
import { revokeGrant } from '../grants/revoke-grant.ts';
import { requiredParameter } from '../parameters.ts';

/** By so much the clocks of proxies may be apart. */
const CLOCK_SKEW_SECONDS = 600;

/** What the revocation endpoint is made with. */
export interface RevokeOptions extends ClientAuthentication {
  readonly stores: Stores;
  readonly externalTokens: ExternalTokens;
  readonly refreshTokens: RefreshTokens;
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
  const owner = { client, issuer: context.origin, gatewayId };
  if (isGatewayToken('refresh', token)) await revokeRefreshToken(token, owner, options);
  else await revokeExternalToken(token, owner, options);
  return json(200, {});
}

async function revokeRefreshToken(
  token: string,
  { client, issuer }: Owner,
  { stores, refreshTokens }: RevokeOptions,
): Promise<void> {
  // One that was rotated, or was lost, speaks for its grant as well as the current one.
  const reference = refreshTokens.open(token);
  const grant = reference === null ? null : await stores.grants.get(reference.grantId);
  if (grant?.issuer !== issuer) return;
  refuseOtherClient(grant.clientId, client);
  await revokeGrant(stores, grant.id);
}

async function revokeExternalToken(
  token: string,
  { client, issuer, gatewayId }: Owner,
  { stores, externalTokens }: RevokeOptions,
): Promise<void> {
  const claims = externalTokens.open(token);
  if (claims?.issuer !== issuer || claims.gatewayId !== gatewayId) return;
  refuseOtherClient(claims.clientId, client);
  // A client that repeats itself shall not keep every proxy busy.
  if (await stores.revokedTokens.isRevoked(claims.tokenId)) return;
  await stores.revokedTokens.revoke(claims.tokenId, revocationSecondsOf(claims));
  await stores.revocations.publish({ kind: 'token', tokenId: claims.tokenId });
}

/**
 * How long the revocation of a token is remembered. Whatever the time is here: by the clock of
 * another proxy it may be just issued.
 */
function revocationSecondsOf({ issuedAt, expiresAt }: ExternalTokenClaims): number {
  return Math.ceil((expiresAt - issuedAt) / 1000) + CLOCK_SKEW_SECONDS;
}

/** RFC 7009, section 2.1: a token that was issued to another client is refused. */
function refuseOtherClient(owner: string, { id }: Client): void {
  if (owner !== id) throw new UnauthorizedClientError('the token is not of this client');
}
