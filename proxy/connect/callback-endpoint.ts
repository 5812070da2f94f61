import { hashToken } from '../crypto/tokens.ts';
import type { Endpoint, EndpointContext } from '../endpoints/endpoint.ts';
import { requireWindow } from '../endpoints/require-click.ts';
import { ConnectionPageError } from '../errors/connection-errors.ts';
import { endBinding, isBoundBrowser } from '../http/browser-binding.ts';
import { continueTrace } from '../http/carried-trace.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { readParameters } from '../http/read-parameters.ts';
import { withCookies } from '../http/responses.ts';
import { signedInBrowser } from '../identity/sign-in/signed-in-browser.ts';
import type { PendingConnection } from '../records/pending-connection.ts';
import type { Session } from '../records/session.ts';
import { userKey } from '../records/user-key.ts';
import { upstreamCallbackUrl } from '../upstream-oauth/registration/client-metadata.ts';
import { beginConnection } from './begin-connection.ts';
import type { ConnectEndpointOptions } from './connect-endpoint-options.ts';
import { CONNECTED } from './connection-result.ts';
import { finishConnection, reportConnection, reportFailure } from './finish-connection.ts';
import { fromOwnPage } from './from-own-page.ts';
import { otherUser } from './other-user.ts';
import { redeemConnection, routeOf, type ReceivedResponse } from './redeem-connection.ts';

/**
 * `GET /.gateway/mcp/client/oauth/callback`: receives the response of an upstream's authorization server,
 * and ends the connection that the user began (specification: Endpoints, 4).
 */
export function createConnectionCallbackEndpoint(options: ConnectEndpointOptions): Endpoint {
  return {
    methods: ['GET'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) => receive(context, options),
  };
}

async function receive(
  context: EndpointContext,
  options: ConnectEndpointOptions,
): Promise<GatewayResponse> {
  requireWindow(context.request);
  const response = readParameters(context.request.query);
  const [state = '', another] = response.getAll('state');
  if (state === '' || another !== undefined) {
    throw new ConnectionPageError(
      'malformed-connection-response',
      'This address is not the answer of a server. Start again from your application.',
    );
  }
  const again = fromOwnPage(context);
  if (again !== undefined) return again;
  // Used up whoever presents it: a response that was seen in the wrong place is not good in the right one.
  const pending = await options.stores.pendingConnections.consume(hashToken(state));
  if (pending === null) throw connectionGone();
  const session = await sessionOf(pending, context, options);
  const ended = await end(session, { pending, state, response }, context, options);
  const { origin } = context;
  return withCookies(ended, [endBinding(origin, 'connect', pending.browserHash)]);
}

function connectionGone(): ConnectionPageError {
  return new ConnectionPageError(
    'connection-gone',
    'This was done before, or has taken too long. Start again from your application.',
  );
}

/**
 * Returns the session in which a connection began, which must be that of this browser. Attack: account
 * mix-up. A user who finishes what another one began would give that one the use of their account.
 */
async function sessionOf(
  { user, sessionId, browserHash, redirectUri, trace }: PendingConnection,
  context: EndpointContext,
  options: ConnectEndpointOptions,
): Promise<Session> {
  const { origin, cookies, configuration, request } = context;
  if (redirectUri !== upstreamCallbackUrl(origin)) throw connectionGone();
  if (!isBoundBrowser(origin, cookies, 'connect', browserHash)) {
    throw new ConnectionPageError(
      'connection-of-other-browser',
      'This was begun in another browser, so nothing was connected. Go back to your application there, and start again.',
      { status: 403 },
    );
  }
  continueTrace(request, { trace });
  const provider = configuration.identityProviders.ofUser(user);
  const browser = await signedInBrowser(context, provider, options);
  const session = browser?.session;
  if (session !== undefined && userKey(session.identity) !== userKey(user)) {
    throw otherUser(
      'Another user began this than the one who is signed in here now, so nothing was connected.',
    );
  }
  if (session?.id === sessionId) return session;
  throw new ConnectionPageError(
    'connection-session-ended',
    'You were signed out meanwhile, so nothing was connected. Start again from your application.',
    { status: 403 },
  );
}

async function end(
  session: Session,
  received: ReceivedResponse,
  context: EndpointContext,
  options: ConnectEndpointOptions,
): Promise<GatewayResponse> {
  const { returnTo } = received.pending;
  const route = routeOf(received.pending, context);
  const attempt = { route: route?.compiled, session, returnTo };
  try {
    const outcome = await redeemConnection(route, received, context, options);
    if (outcome === 'registration-forgotten' && route !== undefined) {
      const wanted = { ...route, session, returnTo, isSecondTry: true } as const;
      return await beginConnection(wanted, context, options);
    }
    reportConnection(attempt, context, options);
    return await finishConnection(CONNECTED, attempt, context, options);
  } catch (error) {
    return reportFailure(error, attempt, context, options);
  }
}
