import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import { requireClick, requireWindow } from '../../endpoints/require-click.ts';
import { ForbiddenError } from '../../errors/denial-errors.ts';
import { expiredCookie, sessionCookieName } from '../../http/cookies.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { readForm } from '../../http/read-form.ts';
import type { Session } from '../../records/session.ts';
import { signedOutPage, signOutPage } from './pages.ts';
import type { SignInOptions } from './sign-in-options.ts';
import { isSignOutForm } from './sign-out-form.ts';
import { signedInBrowser } from './signed-in-browser.ts';

/**
 * `/.gateway/sign_out`: GET asks, POST ends every browser session of the user's session, on all hosts.
 * The session itself and the MCP clients connected with it continue.
 */
export function createSignOutEndpoint(options: SignInOptions): Endpoint {
  return {
    methods: ['GET', 'POST'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) => signOut(context, options),
  };
}

async function signOut(context: EndpointContext, options: SignInOptions): Promise<GatewayResponse> {
  const { request } = context;
  // Before anything else: a form of another site would still remove the cookie.
  if (request.method === 'POST') requireClick(request, context.origin);
  else requireWindow(request);
  const browser = await signedInBrowser(context, options);
  if (browser === undefined) return signedOut(context);
  if (request.method !== 'POST') return signOutPage(browser);
  const form = await readForm(request.message);
  if (!isSignOutForm(form, browser)) throw new ForbiddenError('forged-form');
  await endBrowserSessions(browser.session, context, options);
  return signedOut(context);
}

/** Removes the session cookie only from a browser that sent one. */
function signedOut({ origin, cookies }: EndpointContext): GatewayResponse {
  const name = sessionCookieName(origin);
  if (cookies[name] === undefined) return signedOutPage({});
  return signedOutPage({ 'set-cookie': [expiredCookie(origin, name)] });
}

async function endBrowserSessions(
  { id, identity, signInId }: Session,
  context: EndpointContext,
  { stores, audit }: SignInOptions,
): Promise<void> {
  await stores.browserSessions.deleteAll(id);
  await stores.revocations.publish({ kind: 'browser', sessionId: id });
  audit.write('signed-out', context, { identity, signInId });
}
