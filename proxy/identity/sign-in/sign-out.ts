import { derivedToken, equalSecrets } from '../../crypto/tokens.ts';
import { ForbiddenError } from '../../errors/request-errors.ts';
import { expiredCookie, sessionCookieName } from '../../http/cookies.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { readForm } from '../../http/read-form.ts';
import { signedOutPage, signOutPage } from './pages.ts';
import type { Session } from '../../records/session.ts';
import type { SignInOptions } from './sign-in-options.ts';

const FORM_PURPOSE = 'sign-out';

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
  const { origin, cookies, request } = context;
  if (request.method === 'POST') refuseOtherSites(context);
  const cookie = cookies[sessionCookieName(origin)];
  if (cookie === undefined) return signedOutPage({});
  const caller = await options.sessionCookies.callerOf(cookie, origin);
  if (caller?.kind !== 'user') return signedOut(context);
  const formToken = derivedToken(cookie, FORM_PURPOSE);
  if (request.method !== 'POST') return signOutPage(caller.session.identity, formToken);
  await requireOwnForm(request, formToken);
  await endBrowserSessions(caller.session, context, options);
  return signedOut(context);
}

/**
 * Cross-site request forgery: a form of another site brings no Lax cookie, but its browser would take
 * the `Set-Cookie` that removes one.
 */
function refuseOtherSites({ request: { message }, origin }: EndpointContext): void {
  const { origin: from = origin, 'sec-fetch-site': site } = message.headers;
  if (from !== origin || site === 'cross-site' || site === 'same-site') {
    throw new ForbiddenError('cross-site-form');
  }
}

/** The cookie that came goes in any case: one that stands for nothing is of no use either. */
function signedOut({ origin }: EndpointContext): GatewayResponse {
  return signedOutPage({ 'set-cookie': [expiredCookie(origin, sessionCookieName(origin))] });
}

/** Cross-site request forgery: only a form this host made for this browser may sign it out. */
async function requireOwnForm(
  { message }: EndpointContext['request'],
  formToken: string,
): Promise<void> {
  const form = await readForm(message);
  if (!equalSecrets(form.get('token') ?? '', formToken)) throw new ForbiddenError('forged-form');
}

async function endBrowserSessions(
  { id, identity }: Session,
  { request }: EndpointContext,
  { stores, logger }: SignInOptions,
): Promise<void> {
  await stores.browserSessions.deleteAll(id);
  await stores.revocations.publish({ kind: 'browser', sessionId: id });
  const { provider, subject } = identity;
  logger.info('user signed out', { 'request-id': request.id, user: subject, provider });
}
