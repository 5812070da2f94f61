import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExternalTokenAuthenticator } from '../../proxy/authentication/external-token-authenticator.ts';
import { challengeFor } from '../../proxy/authorization-server/challenge.ts';
import type { Configuration } from '../../proxy/configuration/configuration.ts';
import { resourceIdentifier } from '../../proxy/configuration/resource-identifier.ts';
import { originOfHost } from '../../proxy/configuration/routing-table.ts';
import type { FindEndpoint } from '../../proxy/endpoints/find-endpoint.ts';
import { serveEndpoint } from '../../proxy/endpoints/serve-endpoint.ts';
import { TokenRequiredError } from '../../proxy/errors/authentication-errors.ts';
import { RouteNotFoundError } from '../../proxy/errors/routing-errors.ts';
import type { GatewayRequest } from '../../proxy/http/gateway-request.ts';
import type { GatewayResponse } from '../../proxy/http/gateway-response.ts';
import { json } from '../../proxy/http/responses.ts';
import { sendResponse } from '../../proxy/http/send-response.ts';
import { respondToError } from '../../proxy/pipeline/respond-to-error.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** What a gateway serves: its endpoints, and a resource for callers with a token. */
export interface ServedGateway {
  readonly configuration: Configuration;
  readonly findEndpoint: FindEndpoint;
  readonly authenticator: ExternalTokenAuthenticator;
}

/**
 * Serves endpoints as the gateway does. Every other path is a resource that returns the caller, or
 * challenges.
 */
export async function serveGateway(
  message: IncomingMessage,
  response: ServerResponse,
  gateway: ServedGateway,
): Promise<void> {
  const { configuration, findEndpoint } = gateway;
  const request = parse(message);
  const endpoint = findEndpoint(configuration.routes.findHost(request.authority), request.path);
  try {
    const origin = originOf(request, configuration);
    const at = { origin, configuration };
    const answer = endpoint
      ? await serveEndpoint(endpoint, request, at)
      : await serveResource(request, origin, gateway);
    sendResponse(response, answer, request.id);
  } catch (error) {
    const answer = respondToError(error, {
      requestId: request.id,
      audience: endpoint?.audience ?? 'json-rpc',
      messageId: null,
      challenge: (tokenWasSent) =>
        challengeFor(originOf(request, configuration), request.path, tokenWasSent),
      usedBasic: /^basic /i.test(message.headers.authorization ?? ''),
    });
    sendResponse(response, answer, request.id);
  }
}

function parse(message: IncomingMessage): GatewayRequest {
  const target = message.url ?? '/';
  const mark = target.indexOf('?');
  return {
    id: randomUUID(),
    method: message.method ?? 'GET',
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark),
    authority: (message.headers.host ?? '').toLowerCase(),
    remoteAddress: message.socket.remoteAddress ?? '',
    message,
  };
}

function originOf({ authority }: GatewayRequest, { routes, settings }: Configuration): Origin {
  const host = routes.findHost(authority);
  if (host !== undefined) return originOfHost(host, authority);
  const { authenticateOrigin } = settings;
  if (authenticateOrigin?.endsWith(`//${authority}`) === true) return authenticateOrigin;
  throw new RouteNotFoundError(421, 'no such host');
}

async function serveResource(
  { message, authority, path }: GatewayRequest,
  origin: Origin,
  { configuration, authenticator }: ServedGateway,
): Promise<GatewayResponse> {
  const route = configuration.routes.findHost(authority)?.matchPath(path);
  if (route === undefined) throw new RouteNotFoundError(404, 'no such path');
  const token = /^Bearer (.+)$/.exec(message.headers.authorization ?? '')?.[1];
  if (token === undefined) throw new TokenRequiredError('no token', { tokenWasSent: false });
  const resource = resourceIdentifier(route.compiled, origin);
  const { gatewayId } = configuration.settings;
  const caller = await authenticator.callerOf(token, {
    ...{ resource, gatewayId },
    provider: configuration.identityProviders.ofRoute(route.compiled),
  });
  return json(200, { user: caller.session.identity.subject });
}
