import { SignInFailedError } from '../../errors/request-errors.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { authenticateOriginFor } from './authenticate-host.ts';
import { receiveProviderAnswer } from './provider-callback.ts';
import { receiveSignInCode } from './sign-in-code-callback.ts';
import type { SignInServices } from './sign-in-services.ts';

/**
 * `GET /.gateway/callback`: where both halves of a sign-in come back to. The identity provider
 * answers the authenticate host with a `state`, and that one a route host with a `sign_in_code`.
 */
export async function callback(
  context: EndpointContext,
  services: SignInServices,
): Promise<GatewayResponse> {
  const parameters = new URLSearchParams(context.request.query);
  const [code, ...otherCodes] = parameters.getAll('sign_in_code');
  const [state, ...otherStates] = parameters.getAll('state');
  if (otherCodes.length > 0 || otherStates.length > 0) throw malformed();
  if (code !== undefined && state === undefined) return receiveSignInCode(code, context, services);
  const isAuthenticateHost = context.origin === authenticateOriginFor(context);
  if (state === undefined || code !== undefined || !isAuthenticateHost) throw malformed();
  return receiveProviderAnswer(state, context, services);
}

function malformed(): SignInFailedError {
  return new SignInFailedError('malformed-callback', 'neither a state nor a code, or several');
}
