import { randomUUID } from 'node:crypto';

import { isPreflight, preflightResponse } from '../http/cors.ts';
import type { ClientResponse } from '../http/client-response.ts';
import type { RequestMessage } from '../http/request-message.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { parseRequest } from '../http/parse-request.ts';
import { sendResponse } from '../http/send-response.ts';
import { checkMcpRequest } from '../mcp/check-mcp-request.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { RouteHost } from '../configuration/routing-table.ts';
import type { AuthorizeLog } from '../telemetry/authorize-log.ts';
import type { Authenticators } from '../authentication/authenticator.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { Forwarder } from './forward.ts';
import { inspect } from './inspect.ts';
import { matchHost } from './match-host.ts';
import { matchRoute } from './match-route.ts';
import { prepareUpstream, type AssertionSource } from './prepare-upstream.ts';
import type { Progress } from './progress.ts';
import { responseOverlay } from './response-overlay.ts';
import { serveEndpoint } from '../endpoints/serve-endpoint.ts';

/** What the stages need from outside the request. `gateway.ts` hands in the real ones. */
export interface Stages {
  configuration(): Configuration;
  /** The endpoint of the gateway's own that a path of a host is; undefined for the proxied rest. */
  findEndpoint(host: RouteHost | undefined, path: string): Endpoint | undefined;
  readonly authenticators: Authenticators;
  readonly authorizeLog: AuthorizeLog;
  readonly assertions: AssertionSource;
  readonly forwarder: Forwarder;
  /** What to answer when a stage threw; undefined when nobody is there to hear it. */
  answerFailure(error: unknown, progress: Progress): GatewayResponse | undefined;
}

/**
 * Serves one request. Its whole life reads top to bottom here, and nowhere else.
 *
 * Stages that have nothing to wait for return plain values: a warm request waits for its body and
 * its upstream only.
 */
export async function handleRequest(
  incoming: RequestMessage,
  response: ClientResponse,
  stages: Stages,
): Promise<void> {
  const configuration = stages.configuration();
  const { settings, clientAddressOf } = configuration;
  const progress: Progress = { requestId: randomUUID(), configuration };
  try {
    const request = parseRequest(incoming, progress.requestId, clientAddressOf);
    progress.request = request;
    const place = (progress.place = matchHost(configuration, request));
    const endpoint = (progress.endpoint = stages.findEndpoint(place.host, request.path));
    const at = { origin: place.origin, configuration };
    if (endpoint !== undefined) {
      sendResponse(response, await serveEndpoint(endpoint, request, at), request.id);
      return;
    }

    const route = (progress.route = matchRoute(place, request));
    if (route.compiled.mcpServer !== undefined) {
      if (isPreflight(request.method, incoming.headers)) {
        sendResponse(response, preflightResponse(incoming.headers), request.id);
        return;
      }
      checkMcpRequest(request, { own: place.origin, allowed: settings.allowedOrigins });
    }
    const authenticated = authenticate(request, route, at, stages.authenticators);
    const caller = authenticated instanceof Promise ? await authenticated : authenticated;
    const body = await inspect(request, route);
    progress.messageId = body?.message.id ?? null;

    const { authorizeLog } = stages;
    const asked = { request, message: body?.message, authorizeLog, configuration };
    const permit = authorize(route, caller, asked);
    const prepared = prepareUpstream(permit, request, {
      origin: place.origin,
      configuration,
      assertions: stages.assertions,
      bytes: body?.bytes,
    });
    const upstream = prepared instanceof Promise ? await prepared : prepared;
    const responseHeaders = responseOverlay(route, request);
    await stages.forwarder.forward(permit, upstream, { request, response, responseHeaders });
  } catch (error) {
    const answer = stages.answerFailure(error, progress);
    if (answer === undefined) response.destroy();
    else sendResponse(response, answer, progress.requestId);
  }
}
