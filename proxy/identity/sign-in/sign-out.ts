import { endApplicationTokens } from '../../authentication/applications-of-session.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import { requireClick, requireWindow } from '../../endpoints/require-click.ts';
import { ForbiddenError } from '../../errors/denial-errors.ts';
import { expiredCookie, isSessionCookie } from '../../http/cookies.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { readForm } from '../../http/read-form.ts';
import type { Session } from '../../records/session.ts';
import { signedOutPage, signOutPage } from './pages.ts';
import type { SignInOptions } from './sign-in-options.ts';
import { isSignOutForm } from './sign-out-form.ts';
import { heldSessions } from './signed-in-browser.ts';
import { startPage } from './start-page.ts';

/**
 * `/.gateway/sign_out`: GET asks, POST ends every browser session of the user's sessions, on all hosts: each
 * session that the browser holds here, of any identity provider, also one that opens nothing now. The tokens that
 * backends of applications got end with them. The sessions themselves and the MCP clients connected with them
 * continue.
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
  const browsers = await heldSessions(context, options);
  const [first, ...others] = browsers;
  if (first === undefined) return signedOut(context);
  if (request.method !== 'POST') return signOutPage([first, ...others]);
  const form = await readForm(request.message);
  if (!isSignOutForm(form, browsers)) throw new ForbiddenError('forged-form');
  for (const { session } of browsers) await endBrowserSessions(session, context, options);
  return signedOut(context);
}

/** Removes the session cookies that the browser sent, also those of providers that are gone. */
export function signedOut(context: EndpointContext): GatewayResponse {
  const { origin, cookies } = context;
  const hasSignIn = startPage(context) !== undefined;
  const names = Object.keys(cookies).filter(
    (name) => cookies[name] !== undefined && isSessionCookie(origin, name),
  );
  if (names.length === 0) return signedOutPage({}, hasSignIn);
  const setCookies = names.map((name) => expiredCookie(origin, name));
  return signedOutPage({ 'set-cookie': setCookies }, hasSignIn);
}

async function endBrowserSessions(
  session: Session,
  context: EndpointContext,
  { stores, audit, now }: SignInOptions,
): Promise<void> {
  const { id, identity, signInId } = session;
  await endApplicationTokens(session, stores.revokedTokens, now());
  await stores.browserSessions.deleteAll(id);
  await stores.revocations.publish({ kind: 'browser', sessionId: id });
  audit.write('signed-out', context, { identity, signInId });
}
