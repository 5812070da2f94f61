import { CONNECT_ADVICE } from '../connect/pages.ts';
import { hashToken } from '../crypto/tokens.ts';
import type { Endpoint, EndpointContext } from '../endpoints/endpoint.ts';
import { limitRate } from '../endpoints/limit-rate.ts';
import { PATHS } from '../endpoints/paths.ts';
import { requireClick, requireWindow } from '../endpoints/require-click.ts';
import type { ConnectError } from '../errors/connection-errors.ts';
import { ForbiddenError } from '../errors/denial-errors.ts';
import { BadRequestError } from '../errors/request-errors.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { readForm } from '../http/read-form.ts';
import { readParameters } from '../http/read-parameters.ts';
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
import { continuePage } from '../pages/continue-page.ts';
import type { Identity } from '../records/session.ts';
import { userKey } from '../records/user-key.ts';
import { browserOfForm } from './account-form.ts';
import type { AccountOptions } from './account-options.ts';
import { accountPage, type Account } from './account-page.ts';
import { approvedClients, revokeClient } from './approved-clients.ts';
import { connectServer } from './connect-server.ts';
import { disconnectServer } from './disconnect-server.ts';
import { signOutEverywhere } from './sign-out-everywhere.ts';
import { serversOf } from './user-servers.ts';

/** What one user may ask of the page. Each view reads all that they have. */
const REQUESTS = { limit: 300, windowSeconds: 60 };

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
  if (first === undefined) return notSignedIn(context);
  const accounts = [await accountOf(first, context, options)] as const;
  const furtherAccounts = others.map((browser) => accountOf(browser, context, options));
  const word = readParameters(context.request.query).get('connect_error');
  return accountPage(
    [...accounts, ...(await Promise.all(furtherAccounts))],
    word !== null && isConnectError(word) ? word : undefined,
  );
}

/** Marks the request of a page of this host. */
const CONTINUED = 'continued';

function notSignedIn(context: EndpointContext): GatewayResponse {
  const { configuration, origin, request } = context;
  const query = readParameters(request.query);
  // Browsers leave out a strict cookie when the user comes from another site, as after connecting a server.
  if (configuration.settings.cookie.sameSite === 'Strict' && !query.has(CONTINUED)) {
    query.set(CONTINUED, '1');
    return continuePage('Your account', `${origin}${PATHS.account}?${query.toString()}`);
  }
  return notSignedInPage(startPage(context) !== undefined);
}

async function accountOf(
  browser: SignedInBrowser,
  { configuration }: EndpointContext,
  options: AccountOptions,
): Promise<Account> {
  const { identity } = browser.session;
  await limitAccount(identity, options);
  const [clients, servers] = await Promise.all([
    approvedClients(identity, options.stores),
    serversOf(identity, configuration, options),
  ]);
  return { browser, clients, servers };
}

async function limitAccount(identity: Identity, { stores }: AccountOptions): Promise<void> {
  await limitRate(stores.rateLimits, `account-of:${hashToken(userKey(identity))}`, REQUESTS);
}

function isConnectError(word: string): word is ConnectError {
  return Object.hasOwn(CONNECT_ADVICE, word);
}

async function act(context: EndpointContext, options: AccountOptions): Promise<GatewayResponse> {
  requireClick(context.request, context.origin);
  const held = await heldSessions(context, options);
  const form = await readForm(context.request.message);
  const browser = browserOfForm(form, held);
  if (browser === undefined) throw new ForbiddenError('forged-form');
  const { identity } = browser.session;
  await limitAccount(identity, options);
  switch (form.get('action') ?? '') {
    case 'connect':
      return connectServer(form.get('server') ?? '', identity, context, options);
    case 'disconnect':
      await disconnectServer(form.get('connection') ?? '', identity, context, options);
      return seeOther(context.origin + PATHS.account);
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
