import { SignInFailedError } from '../../errors/authentication-errors.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { authenticateOriginFor } from './authenticate-host.ts';
import { receiveProviderAnswer } from './provider-callback.ts';
import { receiveSignInCode } from './sign-in-code-callback.ts';
import type { SignInOptions } from './sign-in-options.ts';

/**
 * `GET /.gateway/callback`: receives the results of both halves of a sign-in. The identity provider
 * sends the browser to the authenticate host with a `state`, and the authenticate host sends it to a
 * route host with a `sign_in_code`.
 */
export function createCallbackEndpoint(options: SignInOptions): Endpoint {
  return {
    methods: ['GET'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) => callback(context, options),
  };
}

async function callback(
  context: EndpointContext,
  options: SignInOptions,
): Promise<GatewayResponse> {
  const parameters = new URLSearchParams(context.request.query);
  const [code, ...otherCodes] = parameters.getAll('sign_in_code');
  const [state, ...otherStates] = parameters.getAll('state');
  if (otherCodes.length > 0 || otherStates.length > 0) throw malformed();
  if (code !== undefined && state === undefined) return receiveSignInCode(code, context, options);
  const isAuthenticateHost = context.origin === authenticateOriginFor(context);
  if (state === undefined || code !== undefined || !isAuthenticateHost) throw malformed();
  return receiveProviderAnswer(state, context, options);
}

function malformed(): SignInFailedError {
  return new SignInFailedError('malformed-callback', 'neither a state nor a code, or several');
}
