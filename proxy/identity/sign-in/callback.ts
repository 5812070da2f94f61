import { SignInFailedError } from '../../errors/authentication-errors.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { readParameters } from '../../http/read-parameters.ts';
import { authenticateOriginFor } from './authenticate-host.ts';
import { PATHS } from '../../endpoints/paths.ts';
import { receiveProviderAnswer } from './provider-callback.ts';
import { receiveSignInCode } from './sign-in-code-callback.ts';
import type { SignInOptions } from './sign-in-options.ts';

/**
 * `GET /.gateway/callback` and `/.gateway/callback/<provider>`: receives the results of both halves of a
 * sign-in. An identity provider sends the browser to the authenticate host with a `state`, and the
 * authenticate host sends it to a route host with a `sign_in_code`.
 */
export function createCallbackEndpoint(options: SignInOptions): Endpoint {
  return {
    methods: ['GET'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) => callback(context, options).catch(auditRefusal(context, options)),
  };
}

/** Returns a handler that logs why a sign-in was refused, and passes the error on. */
function auditRefusal(
  context: EndpointContext,
  { audit }: SignInOptions,
): (error: unknown) => never {
  return (error) => {
    if (error instanceof SignInFailedError) {
      audit.write('sign-in-refused', context, { reason: error.reason });
    }
    throw error;
  };
}

async function callback(
  context: EndpointContext,
  options: SignInOptions,
): Promise<GatewayResponse> {
  const parameters = readParameters(context.request.query);
  // RFC 6749, section 3.1: no parameter is sent twice, and one without a value counts as left out.
  if (ANSWER.some((name) => parameters.getAll(name).length > 1)) throw malformed();
  const [signInCode, state, code, error] = ANSWER.map((name) => parameters.get(name) ?? '');
  if (signInCode && !state && context.request.path === PATHS.callback) {
    return receiveSignInCode(signInCode, context, options);
  }
  const isAuthenticateHost = context.origin === authenticateOriginFor(context);
  if (!state || signInCode || !isAuthenticateHost) throw malformed();
  // RFC 6749, sections 4.1.2 and 4.1.2.1: an answer is either a code or an error.
  if (!code === !error) throw malformed();
  return receiveProviderAnswer(state, context, options);
}

const ANSWER = ['sign_in_code', 'state', 'code', 'error', 'iss'];

function malformed(): SignInFailedError {
  const message = 'not one answer: a state with a code or an error, or a code of the gateway';
  return new SignInFailedError('malformed-callback', message);
}
