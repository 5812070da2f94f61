import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import { requireWindow } from '../../endpoints/require-click.ts';
import { PATHS } from '../../endpoints/paths.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { seeOther } from '../../http/responses.ts';
import { authenticateOriginFor } from './authenticate-host.ts';
import { accountPage, notSignedInPage } from './pages.ts';
import type { SignInOptions } from './sign-in-options.ts';
import { sessionsOfBrowser } from './signed-in-browser.ts';
import { startPage } from './start-page.ts';

/**
 * `GET /.gateway/`: shows who is signed in. A sign-in that was started at the authenticate host itself ends
 * here; route hosts redirect to this page of their authenticate host.
 */
export function createAccountEndpoint(options: Pick<SignInOptions, 'sessionCookies'>): Endpoint {
  return {
    methods: ['GET'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) => showAccount(context, options),
  };
}

async function showAccount(
  context: EndpointContext,
  options: Pick<SignInOptions, 'sessionCookies'>,
): Promise<GatewayResponse> {
  requireWindow(context.request);
  const authenticateOrigin = authenticateOriginFor(context);
  if (context.origin !== authenticateOrigin) return seeOther(authenticateOrigin + PATHS.account);
  const [first, ...others] = await sessionsOfBrowser(context, options);
  return first === undefined
    ? notSignedInPage(startPage(context) !== undefined)
    : accountPage([first, ...others]);
}
