import { hashToken } from '../../crypto/tokens.ts';
import { SignInFailedError } from '../../errors/authentication-errors.ts';
import { continueTrace } from '../../http/carried-trace.ts';
import { endBinding, isBoundBrowser } from '../../http/browser-binding.ts';
import { limitUser } from '../../endpoints/limit-rate.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { beginBrowserSession } from './begin-browser-session.ts';
import { withCookies } from '../../http/responses.ts';
import { consumeChecked } from '../../store/consume-checked.ts';
import { sendToPath } from './finish-sign-in.ts';
import type { SignInCode } from '../../records/sign-in-code.ts';
import type { SignInOptions } from './sign-in-options.ts';

/**
 * `GET /.gateway/callback` at a route host: receives the code of the authenticate host, signs the browser
 * in at this host, and sends it to the page that it requested.
 */
export async function receiveSignInCode(
  code: string,
  context: EndpointContext,
  options: SignInOptions,
): Promise<GatewayResponse> {
  const { origin } = context;
  const { sessionId, returnPath, targetHash } = await consumeCode(code, context, options);
  const session = await options.stores.sessions.get(sessionId);
  if (session === null) throw new SignInFailedError('session-gone', 'the session has ended');
  await limitUser(options.stores.rateLimits, 'browser-session', session.identity);
  const sessionCookie = await beginBrowserSession(session, context, options);
  const endedSignIn = endBinding(origin, 'sign-in', targetHash);
  return withCookies(sendToPath(context, returnPath), [sessionCookie, endedSignIn]);
}

async function consumeCode(
  code: string,
  { origin, cookies, request }: EndpointContext,
  { stores }: SignInOptions,
): Promise<SignInCode> {
  const record = await consumeChecked(stores.signInCodes, hashToken(code), (found) => {
    if (found.targetOrigin !== origin) {
      throw new SignInFailedError('other-origin', 'the code is for another host');
    }
    // Attack: login CSRF. An attacker's code must not sign in a user who follows a link with it.
    if (!isBoundBrowser(origin, cookies, 'sign-in', found.targetHash)) {
      throw new SignInFailedError('other-browser', 'the sign-in was begun in another browser');
    }
    continueTrace(request, found);
  });
  if (record === null) {
    throw new SignInFailedError('unknown-code', 'the code is unknown, expired or used');
  }
  return record;
}
