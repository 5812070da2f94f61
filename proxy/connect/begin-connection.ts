import { hashToken, randomToken } from '../crypto/tokens.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import { bindBrowser } from '../http/browser-binding.ts';
import { carriedTrace } from '../http/carried-trace.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { networksOf } from '../http/network-of.ts';
import { seeOther, withCookies } from '../http/responses.ts';
import type { ReturnTarget } from '../records/pending-connection.ts';
import type { Session } from '../records/session.ts';
import { userReference } from '../records/user-key.ts';
import { bindingOf } from '../upstream-oauth/binding.ts';
import { upstreamAuthorizationUrl } from '../upstream-oauth/protocol/authorization-url.ts';
import { upstreamCallbackUrl } from '../upstream-oauth/registration/client-metadata.ts';
import type { ConnectEndpointOptions } from './connect-endpoint-options.ts';
import type { ConnectableRoute } from './redeem-connection.ts';

/** How long a user may take at the authorization server of the upstream. */
const PENDING_SECONDS = 10 * 60;

/** What a user connects, and what follows. */
export interface WantedConnection extends ConnectableRoute {
  readonly session: Session;
  readonly returnTo: ReturnTarget;
  /** See `PendingConnection`. */
  readonly isSecondTry?: true;
}

/**
 * Sends the browser of a signed-in user to the authorization server of an upstream. Throws if there is none
 * that can be used.
 *
 * Attack: account mix-up. Only the user who begins can finish, in the same browser and session, at the same
 * route and authorization server.
 */
export async function beginConnection(
  { compiled, upstreamOAuth, session, returnTo, isSecondTry }: WantedConnection,
  { origin, configuration, cookies, request }: EndpointContext,
  { stores, authorizations }: ConnectEndpointOptions,
): Promise<GatewayResponse> {
  const user = userReference(session.identity);
  const { routeId } = upstreamOAuth;
  const binding = bindingOf(compiled);
  const need = await stores.connectionNeeds.get({ user, routeId, binding });
  const authorization = await authorizations.forConnection(compiled, origin, configuration, {
    requestId: request.id,
    moreScopes: need?.scopes ?? [],
  });
  const redirectUri = upstreamCallbackUrl(origin);
  const [state, codeVerifier] = [randomToken(), randomToken()];
  const parameters = { redirectUri, state, codeVerifier };
  const url = await upstreamAuthorizationUrl(authorization, upstreamOAuth, parameters);
  const { hash: browserHash, setCookies } = bindBrowser(origin, cookies, 'connect');
  await stores.pendingConnections.save(
    hashToken(state),
    {
      ...{ user, sessionId: session.id, browserHash, routeName: compiled.name, routeId, binding },
      ...{ issuer: authorization.issuer, clientId: authorization.client.id },
      ...{ resource: authorization.resource, scopes: authorization.scopes },
      requiresIss: authorization.server.authorization_response_iss_parameter_supported === true,
      ...{ codeVerifier, redirectUri, returnTo, ...(isSecondTry && { isSecondTry }) },
      ...carriedTrace(request),
    },
    PENDING_SECONDS,
    networksOf(request.remoteAddress).endSite,
  );
  return withCookies(seeOther(url.href), setCookies);
}
