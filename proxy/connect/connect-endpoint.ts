import { couldUseRoute } from '../configuration/could-use-route.ts';
import type { Endpoint, EndpointContext } from '../endpoints/endpoint.ts';
import { limitNetwork, limitUser } from '../endpoints/limit-rate.ts';
import { PATHS } from '../endpoints/paths.ts';
import { requireWindow } from '../endpoints/require-click.ts';
import { ConnectionFailedError, ConnectionPageError } from '../errors/connection-errors.ts';
import { continueTrace } from '../http/carried-trace.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { safeReturnPath } from '../identity/sign-in/return-path.ts';
import { signedInBrowser } from '../identity/sign-in/signed-in-browser.ts';
import type { ReturnTarget } from '../records/pending-connection.ts';
import type { Session } from '../records/session.ts';
import { userKey } from '../records/user-key.ts';
import { beginConnection } from './begin-connection.ts';
import type { ConnectEndpointOptions } from './connect-endpoint-options.ts';
import { readConnectRequest, type ConnectRequest } from './connect-request.ts';
import { CONNECTED } from './connection-result.ts';
import { finishConnection, reportFailure } from './finish-connection.ts';
import { fromOwnPage } from './from-own-page.ts';
import { otherUser } from './other-user.ts';

/** Limit per network. Attack: strangers make the gateway check links and sign-ins without end. */
const REQUESTS = { limit: 1000, windowSeconds: 60 };

/**
 * `GET /.gateway/mcp/connect` on the host of an MCP server: has the user authorize the gateway at the
 * authorization server of the upstream, unless that is done or not needed (specification: Endpoints, 3).
 */
export function createConnectEndpoint(options: ConnectEndpointOptions): Endpoint {
  return {
    methods: ['GET'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) => connect(context, options),
  };
}

async function connect(
  context: EndpointContext,
  options: ConnectEndpointOptions,
): Promise<GatewayResponse> {
  const { request, configuration } = context;
  requireWindow(request);
  await limitNetwork(options.stores.rateLimits, 'connect', request, REQUESTS);
  const wanted = readConnectRequest(context, options);
  const { compiled } = wanted.route;
  const provider = configuration.identityProviders.ofRoute(compiled);
  const browser = await signedInBrowser(context, provider, options);
  const isOther = browser !== undefined && isOtherUser(wanted, browser.session);
  if (!isOther) continueTrace(request, wanted);
  if (browser === undefined) {
    const again = fromOwnPage(context);
    if (again !== undefined) return again;
    const returnPath = returnPathTo(context);
    return options.redirectToSignIn(context, { returnPath, provider: compiled.identityProvider });
  }
  const { session } = browser;
  if (isOther) {
    throw otherUser('This link is for another user than the one who is signed in here.');
  }
  await limitUser(options.stores.rateLimits, 'connection', session.identity);
  return connectUser(wanted, session, context, options);
}

function isOtherUser({ user }: ConnectRequest, { identity }: Session): boolean {
  return user !== undefined && userKey(user) !== userKey(identity);
}

/** Sign-in returns to this address, but only to one that it can carry. */
function returnPathTo({ request }: EndpointContext): string {
  const path = PATHS.connect + request.query;
  if (safeReturnPath(path) === path) return path;
  throw new ConnectionPageError(
    'connect-url-too-long',
    'The link to connect is too long. Shorten the address to which the application returns.',
  );
}

async function connectUser(
  wanted: ConnectRequest,
  session: Session,
  context: EndpointContext,
  options: ConnectEndpointOptions,
): Promise<GatewayResponse> {
  const { route } = wanted;
  const { compiled } = route;
  const returnTo = await returnTargetOf(wanted, options);
  const attempt = { route: compiled, returnTo, session };
  try {
    if (!couldUseRoute(session.identity, route, context.configuration)) throw notPermitted();
    const upstreamOAuth = compiled.mcpServer?.upstreamOAuth;
    const { internalTokens } = options;
    if (
      upstreamOAuth === undefined ||
      (await internalTokens.isConnected(session.identity, compiled))
    ) {
      return await finishConnection(CONNECTED, attempt, context, options);
    }
    return await beginConnection({ compiled, upstreamOAuth, session, returnTo }, context, options);
  } catch (error) {
    return reportFailure(error, attempt, context, options);
  }
}

function notPermitted(): ConnectionFailedError {
  const message = 'the policy of the route cannot allow this user anything';
  return new ConnectionFailedError('connect-not-permitted', message, 'not_permitted');
}

/** An authorization request is used up here: its link works once. */
async function returnTargetOf(
  { returnTo }: ConnectRequest,
  { stores }: ConnectEndpointOptions,
): Promise<ReturnTarget> {
  if (returnTo.kind !== 'authorization') return returnTo;
  const pending = await stores.pendingAuthorizations.consume(returnTo.requestId);
  if (pending !== null) return { kind: 'authorization', pending };
  throw new ConnectionPageError(
    'connect-request-gone',
    'This request was used before, or has waited too long. Start again from your application.',
  );
}
