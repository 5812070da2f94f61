import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { CompiledUpstreamOAuth } from '../../shared/snapshot/compiled-upstream-oauth.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import { ConnectionFailedError } from '../errors/connection-errors.ts';
import type { PendingConnection } from '../records/pending-connection.ts';
import { bindingOf } from '../upstream-oauth/binding.ts';
import { TokenRequestError } from '../upstream-oauth/protocol/token-request-error.ts';
import { redeemCode } from '../upstream-oauth/protocol/token-requests.ts';
import type { UpstreamServer } from '../upstream-oauth/upstream-authorization.ts';
import type { ConnectEndpointOptions } from './connect-endpoint-options.ts';

/** An MCP server that users connect. */
export interface ConnectableRoute {
  readonly compiled: CompiledRoute;
  readonly upstreamOAuth: CompiledUpstreamOAuth;
}

/** The response of an authorization server, and what the gateway recorded when it sent the browser there. */
export interface ReceivedResponse {
  readonly pending: PendingConnection;
  readonly state: string;
  readonly response: URLSearchParams;
}

/** Returns the route at which a connection began; undefined if it is gone. */
export function routeOf(
  { routeId }: PendingConnection,
  { configuration, request }: EndpointContext,
): ConnectableRoute | undefined {
  const { mcpServers = [] } = configuration.routes.findHost(request.authority) ?? {};
  for (const { compiled } of mcpServers) {
    const upstreamOAuth = compiled.mcpServer?.upstreamOAuth;
    if (upstreamOAuth?.routeId === routeId) return { compiled, upstreamOAuth };
  }
  return undefined;
}

/**
 * Redeems the code of a response, and keeps the tokens. Throws if the response is not the one that the gateway
 * waits for, or says no. Returns `registration-forgotten` if the server does not know the gateway any more: it
 * can then begin anew, with a new registration.
 */
export async function redeemConnection(
  route: ConnectableRoute | undefined,
  { pending, state, response }: ReceivedResponse,
  { origin, configuration, request }: EndpointContext,
  {
    authorizations,
    internalTokens,
  }: Pick<ConnectEndpointOptions, 'authorizations' | 'internalTokens'>,
): Promise<'connected' | 'registration-forgotten'> {
  // Attack: the code of one server is sent to another one, which the route has now.
  if (route === undefined || bindingOf(route.compiled) !== pending.binding) throw routeChanged();
  const { compiled, upstreamOAuth } = route;
  const { issuer, clientId, resource, redirectUri } = pending;
  const recorded = { issuer, clientId, requestId: request.id };
  const authorization = await authorizations.forIssuer(compiled, origin, configuration, recorded);
  if (authorization === null) throw routeChanged();
  try {
    const sentResource = upstreamOAuth.sendsResource ? resource : undefined;
    const tokens = await redeemCode(authorization, response, { ...pending, state }, sentResource);
    await internalTokens.connect(pending, tokens);
    return 'connected';
  } catch (error) {
    if (pending.isSecondTry === true || !isForgotten(error, authorization)) throw error;
    await authorizations.forgetRegistration(issuer, redirectUri, clientId);
    return 'registration-forgotten';
  }
}

function isForgotten(error: unknown, { client }: UpstreamServer): boolean {
  const isUnknown = error instanceof TokenRequestError && error.code === 'invalid_client';
  return isUnknown && client.source === 'registered';
}

function routeChanged(): ConnectionFailedError {
  const message = 'the route is gone, or its upstream or credentials have changed';
  return new ConnectionFailedError('connection-route-changed', message, 'route_changed');
}
