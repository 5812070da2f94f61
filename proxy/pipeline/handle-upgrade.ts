import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';

import { ForbiddenError, RouteNotFoundError } from '../errors/request-errors.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { RequestMessage } from '../http/request-message.ts';
import { parseRequest } from '../http/parse-request.ts';
import { endWithResponse } from '../http/raw-response.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { Stages } from './handle-request.ts';
import { matchHost } from './match-host.ts';
import { matchRoute } from './match-route.ts';
import type { Permit } from './permit.ts';
import { prepareUpstream } from './prepare-upstream.ts';
import type { Progress } from './progress.ts';

/** What is left of the client's side when a WebSocket handshake has been read. */
export interface UpgradeSocket {
  readonly socket: Duplex;
  /** First bytes after the handshake. */
  readonly head: Buffer;
}

/** Serves one WebSocket handshake: the stages of `handleRequest` that are about more than bodies. */
export async function handleUpgrade(
  incoming: RequestMessage,
  connection: UpgradeSocket,
  stages: Stages,
): Promise<void> {
  const progress: Progress = { requestId: randomUUID(), configuration: stages.configuration() };
  const permitted = await permitUpgrade(incoming, progress, stages).catch((error: unknown) => {
    refuse(connection, error, { progress, stages });
    return undefined;
  });
  if (permitted === undefined) return;
  const { permit, request, upstream } = permitted;
  try {
    await stages.forwarder.forwardUpgrade(permit, upstream, { request, ...connection });
  } catch (error) {
    // The client was answered already, or else nobody will: what is left is to write it down.
    if (connection.socket.writable) connection.socket.destroy();
    stages.answerFailure(error, progress);
  }
}

interface PermittedUpgrade {
  readonly permit: Permit;
  readonly request: GatewayRequest;
  readonly upstream: UpstreamRequest;
}

async function permitUpgrade(
  incoming: RequestMessage,
  progress: Progress,
  stages: Stages,
): Promise<PermittedUpgrade> {
  const { configuration } = progress;
  const { authenticators, authorizeLog, assertions } = stages;
  const request = parseRequest(incoming, progress.requestId, configuration.clientAddressOf);
  progress.request = request;
  const place = (progress.place = matchHost(configuration, request));
  if (stages.findEndpoint(place.host, request.path) !== undefined) {
    throw new RouteNotFoundError(404, "the gateway's own endpoints are no WebSockets");
  }
  const route = (progress.route = matchRoute(place, request));
  const { allowWebsockets, mcpServer } = route.compiled;
  // Messages on a WebSocket are not inspected: on an MCP route they would pass by the policy.
  if (!allowWebsockets || mcpServer !== undefined) throw new ForbiddenError('no-websockets');
  const at = { origin: place.origin, configuration };
  const caller = await authenticate(request, route, at, authenticators);
  const asked = { request, message: undefined, authorizeLog, configuration };
  const permit = authorize(route, caller, asked);
  const upstream = await prepareUpstream(permit, request, {
    origin: place.origin,
    configuration,
    assertions,
    bytes: undefined,
  });
  return { permit, request, upstream };
}

function refuse(
  { socket }: UpgradeSocket,
  error: unknown,
  { progress, stages }: { readonly progress: Progress; readonly stages: Stages },
): void {
  const answer = stages.answerFailure(error, progress);
  if (answer === undefined) {
    socket.destroy();
    return;
  }
  const headers = { ...answer.headers, 'x-request-id': progress.requestId };
  endWithResponse(socket, { ...answer, headers });
}
