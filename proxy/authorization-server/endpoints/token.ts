import { UnsupportedGrantTypeError } from '../../errors/oauth-errors.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { authenticateFormClient, type ClientAuthentication } from '../authenticate-form-client.ts';
import { redeemAuthorizationCode } from '../grants/redeem-authorization-code.ts';
import { redeemRefreshToken } from '../grants/redeem-refresh-token.ts';
import type { GrantOptions, GrantType } from '../grants/token-request.ts';
import { requiredParameter } from '../parameters.ts';
import { issuerOf } from '../resources.ts';

const GRANT_TYPES: ReadonlyMap<string, GrantType> = new Map([
  ['authorization_code', redeemAuthorizationCode],
  ['refresh_token', redeemRefreshToken],
]);

/** Options of the token endpoint. */
export type TokenOptions = GrantOptions & ClientAuthentication;

/**
 * The token endpoint. It authenticates the client before it reads anything else of the request.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6749#section-3.2 RFC 6749, section 3.2}
 */
export function createTokenEndpoint(options: TokenOptions): Endpoint {
  return {
    methods: ['POST'],
    audience: 'oauth',
    crossOrigin: true,
    handle: (context) => issueTokens(context, options),
  };
}

async function issueTokens(
  context: EndpointContext,
  options: TokenOptions,
): Promise<GatewayResponse> {
  const { client, parameters } = await authenticateFormClient(context, options);
  const grantType = GRANT_TYPES.get(requiredParameter(parameters, 'grant_type'));
  if (grantType === undefined) {
    throw new UnsupportedGrantTypeError('grant_type must be authorization_code or refresh_token');
  }
  const { settings, identityProviders } = context.configuration;
  const issuer = issuerOf(context);
  return grantType(options, { issuer, settings, identityProviders, client, parameters, context });
}
