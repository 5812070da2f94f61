import type { Endpoint, EndpointContext } from '../endpoints/endpoint.ts';
import { PATHS } from '../endpoints/paths.ts';
import { requireClick, requireWindow } from '../endpoints/require-click.ts';
import { ForbiddenError } from '../errors/denial-errors.ts';
import { BadRequestError } from '../errors/request-errors.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { readForm } from '../http/read-form.ts';
import { seeOther } from '../http/responses.ts';
import { authenticateOriginFor } from '../identity/sign-in/authenticate-host.ts';
import { notSignedInPage } from '../identity/sign-in/pages.ts';
import { signedOut } from '../identity/sign-in/sign-out.ts';
import {
  heldSessions,
  sessionsOfBrowser,
  type SignedInBrowser,
} from '../identity/sign-in/signed-in-browser.ts';
import { startPage } from '../identity/sign-in/start-page.ts';
import { browserOfForm } from './account-form.ts';
import type { AccountOptions } from './account-options.ts';
import { accountPage } from './account-page.ts';
import { approvedClients, revokeClient } from './approved-clients.ts';
import { signOutEverywhere } from './sign-out-everywhere.ts';

/**
 * `/.gateway/`: the user's page. GET shows who is signed in and what they have, over all hosts; POST takes the
 * page's own forms. A sign-in that was started at the authenticate host itself ends here; other hosts redirect
 * to it.
 */
export function createAccountEndpoint(options: AccountOptions): Endpoint {
  return {
    methods: ['GET', 'POST'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) =>
      context.request.method === 'POST' ? act(context, options) : show(context, options),
  };
}

async function show(context: EndpointContext, options: AccountOptions): Promise<GatewayResponse> {
  requireWindow(context.request);
  const authenticateOrigin = authenticateOriginFor(context);
  if (context.origin !== authenticateOrigin) return seeOther(authenticateOrigin + PATHS.account);
  const [first, ...others] = await sessionsOfBrowser(context, options);
  if (first === undefined) return notSignedInPage(startPage(context) !== undefined);
  return accountPage([
    await accountOf(first, options),
    ...(await Promise.all(others.map((browser) => accountOf(browser, options)))),
  ]);
}

async function accountOf(browser: SignedInBrowser, { stores }: AccountOptions) {
  return { browser, clients: await approvedClients(browser.session.identity, stores) };
}

async function act(context: EndpointContext, options: AccountOptions): Promise<GatewayResponse> {
  requireClick(context.request, context.origin);
  const held = await heldSessions(context, options);
  const form = await readForm(context.request.message);
  const browser = browserOfForm(form, held);
  if (browser === undefined) throw new ForbiddenError('forged-form');
  switch (form.get('action') ?? '') {
    case 'revoke':
      await revokeClient(form.get('client') ?? '', browser.session, context, options);
      return seeOther(context.origin + PATHS.account);
    case 'sign-out-everywhere':
      for (const { session } of held) await signOutEverywhere(session, context, options);
      return signedOut(context);
    default:
      throw new BadRequestError('unknown-action', 'the form names no action of this page');
  }
}
