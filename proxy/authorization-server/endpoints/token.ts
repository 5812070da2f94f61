import { UnsupportedGrantTypeError } from '../../errors/oauth-errors.ts';
import type { EndpointHandler } from '../../endpoints/endpoint.ts';
import { authenticateFormClient, type ClientAuthentication } from '../authenticate-form-client.ts';
import { redeemAuthorizationCode } from '../grants/authorization-code.ts';
import { refresh } from '../grants/refresh-token.ts';
import type { GrantDependencies, GrantType } from '../grants/token-request.ts';
import { requiredParameter } from '../parameters.ts';
import { issuerOf } from '../resources.ts';

const GRANT_TYPES: ReadonlyMap<string, GrantType> = new Map([
  ['authorization_code', redeemAuthorizationCode],
  ['refresh_token', refresh],
]);

/**
 * The token endpoint. The client is known before anything else of its request is looked at.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6749#section-3.2 RFC 6749, section 3.2}
 */
export function createTokenEndpoint(
  dependencies: GrantDependencies & ClientAuthentication,
): EndpointHandler {
  return async (context) => {
    const { client, parameters } = await authenticateFormClient(context, dependencies);
    const grantType = GRANT_TYPES.get(requiredParameter(parameters, 'grant_type'));
    if (grantType === undefined) {
      throw new UnsupportedGrantTypeError('grant_type must be authorization_code or refresh_token');
    }
    const { settings, identityProvider } = context.configuration;
    const issuer = issuerOf(context);
    return grantType(dependencies, { issuer, settings, identityProvider, client, parameters });
  };
}
