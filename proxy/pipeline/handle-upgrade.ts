import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';

import type { GatewayRoute } from '../configuration/routing-table.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type { UpgradeClient } from '../forwarding/websocket/upgrade-relay.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { parseRequest } from '../http/parse-request.ts';
import { endWithResponse } from '../http/raw-response.ts';
import type { SentResponse } from '../http/send-response.ts';
import { makeRequestId } from '../http/request-id.ts';
import type { RequestMessage } from '../http/request-message.ts';
import { beginTrace } from '../telemetry/tracing/begin-trace.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { checkUpgrade } from './check-upgrade.ts';
import { chooseUpstream } from './choose-upstream.ts';
import { credentials } from './credentials.ts';
import { finishRequest } from './finish-request.ts';
import type { Stages } from './handle-request.ts';
import { makeUpstreamRequest } from './make-upstream-request.ts';
import { matchHost, type MatchedHost } from './match-host.ts';
import { matchRoute } from './match-route.ts';
import { redirectToHttps } from './redirect-to-https.ts';

/**
 * Serves one WebSocket handshake by the stages of `handleRequest`, except those for bodies and responses.
 */
export async function handleUpgrade(
  message: RequestMessage,
  client: UpgradeClient,
  stages: Stages,
): Promise<void> {
  const requestId = makeRequestId();
  const startedAt = performance.now();
  const configuration = stages.configuration();
  const trace = beginTrace(stages.tracer, message, configuration.settings);
  let request: GatewayRequest | undefined;
  let host: MatchedHost | undefined;
  let route: GatewayRoute | undefined;
  let isForwarded = false;
  let upstream: UpstreamRequest | undefined;
  let sent: SentResponse | Forwarded | undefined;
  let failure: unknown;
  try {
    request = parseRequest(message, requestId, configuration.clientAddressOf, trace);
    host = matchHost(request, configuration, stages);
    const redirect = redirectToHttps(request, host);
    if (redirect !== undefined) {
      sent = refuse(client.socket, redirect, requestId);
      return;
    }
    if (stages.findEndpoint(host.routes, request.path) !== undefined) {
      throw new RouteNotFoundError(404, "the gateway's own endpoints accept no WebSocket");
    }
    route = matchRoute(request, host);
    const { origin } = host;
    checkUpgrade(request, route, origin);
    const context = { origin, configuration };
    const caller = await authenticate(request, route, context, stages.authenticators);
    const { authorizationLog, assertions, now } = stages;
    const body = undefined;
    const permit = authorize(route, caller, {
      request,
      body,
      authorizationLog,
      configuration,
      now,
    });

    upstream = makeUpstreamRequest(
      permit,
      credentials(permit, { ...context, assertions, session: undefined, internalToken: undefined }),
      chooseUpstream(permit, { configuration, random: stages.random }),
    );
    isForwarded = true;
    const forwarded = await stages.forwarder.forwardUpgrade(upstream, client);
    sent = forwarded;
    if (forwarded.failure !== undefined) throw forwarded.failure;
  } catch (error) {
    failure = error;
    const answer = stages.answerFailure(error, {
      requestId,
      configuration,
      trace,
      request,
      host,
      route,
    });
    // Forwarding has answered the client already, with the status of this answer.
    if (!isForwarded) sent = refuse(client.socket, answer, requestId);
    else if (client.socket.writable) client.socket.destroy();
    else sent ??= answer && { status: answer.status, bytes: 0 };
  } finally {
    finishRequest(
      {
        ...{ requestId, startedAt, trace, request, host, route, upstream, sent, failure },
        settings: configuration.settings,
      },
      stages,
    );
  }
}

function refuse(
  socket: Duplex,
  answer: GatewayResponse | undefined,
  requestId: string,
): SentResponse | undefined {
  if (answer === undefined) {
    socket.destroy();
    return undefined;
  }
  const headers = { ...answer.headers, 'x-request-id': requestId };
  endWithResponse(socket, { ...answer, headers });
  return { status: answer.status, bytes: Buffer.byteLength(answer.body) };
}
