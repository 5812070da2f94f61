import { performance } from 'node:perf_hooks';

import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Authenticators } from '../authentication/authenticator.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { keepsScriptsOut } from '../configuration/keeps-scripts-out.ts';
import type { ConnectLinks } from '../connect/connect-links.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { FindEndpoint } from '../endpoints/find-endpoint.ts';
import { serveEndpoint } from '../endpoints/serve-endpoint.ts';
import type { ClientResponse } from '../http/client-response.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { parseRequest } from '../http/parse-request.ts';
import { makeRequestId } from '../http/request-id.ts';
import type { RequestMessage } from '../http/request-message.ts';
import { sendResponse, type SentResponse } from '../http/send-response.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type { RelayPlan, UpstreamResponse } from '../forwarding/response/response-plan.ts';
import type { AssertionSigner } from '../identity/assertion/assertion.ts';
import type { McpSessions } from '../mcp-sessions/mcp-sessions.ts';
import { checkMcpRequest } from '../mcp/check-mcp-request.ts';
import type { InternalTokens } from '../upstream-oauth/internal-tokens/internal-tokens.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import type { RequestMetrics } from '../telemetry/metrics/request-metrics.ts';
import { beginTrace, type RequestTracer } from '../telemetry/tracing/begin-trace.ts';
import { authenticate } from './authenticate.ts';
import { authorize, type DecisionLog } from './authorize.ts';
import { chooseUpstream } from './choose-upstream.ts';
import { credentials } from './credentials.ts';
import { finishRequest } from './finish-request.ts';
import type { Forwarder } from './forward.ts';
import { inspect, type InspectedBody } from './inspect.ts';
import { internalTokenFor } from './internal-token.ts';
import type { KnownRequest } from './known-request.ts';
import { mcpAnswerFor } from './mcp-answer.ts';
import { mcpSessionOf } from './mcp-session.ts';
import { makeUpstreamRequest } from './make-upstream-request.ts';
import { matchHost, type MatchedHost } from './match-host.ts';
import { matchMcpPath } from './match-mcp-path.ts';
import { matchRoute } from './match-route.ts';
import { planRefusals } from './plan-refusals.ts';
import { planResponse } from './plan-response.ts';
import { redirectToHttps } from './redirect-to-https.ts';
import { replaceServiceWorker } from './replace-service-worker.ts';

/** Everything that the stages use besides the request. `createStages` makes it. */
export interface Stages {
  configuration(): Configuration;
  /** Returns whether the gateway listens for TLS, did so since its process began, or should and cannot. */
  requiresTls(): boolean;
  readonly findEndpoint: FindEndpoint;
  readonly authenticators: Authenticators;
  readonly authorizationLog: DecisionLog;
  readonly assertions: AssertionSigner;
  readonly mcpSessions: McpSessions;
  readonly internalTokens: Pick<
    InternalTokens,
    'tokenFor' | 'replacementOf' | 'drop' | 'requireScopes'
  >;
  readonly connectLinks: Pick<ConnectLinks, 'urlFor'>;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Absent where nothing is traced. */
  readonly tracer: RequestTracer | undefined;
  readonly forwarder: Pick<Forwarder, 'forward' | 'forwardUpgrade'>;
  readonly accessLog: Pick<AccessLog, 'write' | 'writeRefused'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly metrics: Pick<RequestMetrics, 'count'>;
  /** Returns the answer to the error of a stage; undefined if the client has left. */
  answerFailure(error: unknown, known: KnownRequest): GatewayResponse | undefined;
}

/**
 * Serves one request: this function calls all stages, from top to bottom.
 *
 * Stages that have nothing to wait for return plain values: a warm request waits for its body and its
 * upstream only.
 *
 * Results of the stages are kept in variables outside of `try`, so that the answer to a failure can use
 * all that is known by then.
 */
export async function handleRequest(
  message: RequestMessage,
  response: ClientResponse,
  stages: Stages,
): Promise<void> {
  const requestId = makeRequestId();
  const startedAt = performance.now();
  const configuration = stages.configuration();
  const trace = beginTrace(stages.tracer, message, configuration.settings, startedAt);
  let request: GatewayRequest | undefined;
  let host: MatchedHost | undefined;
  let endpoint: Endpoint | undefined;
  let route: GatewayRoute | undefined;
  let body: InspectedBody | undefined;
  let upstream: UpstreamRequest | undefined;
  let sent: SentResponse | Forwarded | undefined;
  let failure: unknown;
  try {
    request = parseRequest(message, requestId, configuration.clientAddressOf, trace);
    host = matchHost(request, configuration, stages);
    const redirect = redirectToHttps(request, host);
    if (redirect !== undefined) {
      sent = sendResponse(response, redirect, requestId);
      return;
    }
    const { origin } = host;
    endpoint = stages.findEndpoint(host.routes, request.path);
    if (endpoint !== undefined) {
      const served = await serveEndpoint(endpoint, request, { origin, configuration });
      sent = sendResponse(response, served, requestId);
      return;
    }

    const worker = replaceServiceWorker(request, host, configuration);
    if (worker !== undefined) {
      sent = sendResponse(response, worker, requestId);
      return;
    }
    route = matchRoute(request, host);
    const mcpPath = matchMcpPath(request, route);
    if (mcpPath !== undefined) {
      const mcpAnswer = mcpAnswerFor(request, route, { origin, configuration });
      if (mcpAnswer !== undefined) {
        sent = sendResponse(response, mcpAnswer, requestId);
        return;
      }
      const { allowedOrigins } = configuration.settings;
      checkMcpRequest(request, mcpPath, { own: origin, allowed: allowedOrigins });
    }
    const context = { origin, configuration, requestId };
    const authenticated = authenticate(request, route, context, stages.authenticators);
    const caller = authenticated instanceof Promise ? await authenticated : authenticated;
    body = await inspect(request, route, mcpPath);
    const { authorizationLog, assertions, now } = stages;
    const permit = authorize(route, caller, {
      request,
      body,
      authorizationLog,
      configuration,
      now,
    });

    const { mcpSessions, logger } = stages;
    const session = mcpSessionOf(permit, { origin, configuration, mcpSessions });
    const found = internalTokenFor(permit, session, context, stages);
    const internalToken = found instanceof Promise ? await found : found;
    upstream = makeUpstreamRequest(
      permit,
      credentials(permit, { origin, configuration, assertions, session, internalToken }),
      chooseUpstream(permit, { configuration, random: stages.random }),
    );
    const isKeptFromScripts = keepsScriptsOut(host, configuration.settings);
    const relaying = { session, mcpSessions, isKeptFromScripts, logger };
    const relay = (received: UpstreamResponse): RelayPlan =>
      planResponse(permit, received, relaying);
    const planner =
      internalToken === undefined
        ? relay
        : planRefusals({ permit, upstream, internalToken, session, context, stages }, relay);
    const forwarded = await stages.forwarder.forward(upstream, response, planner);
    sent = forwarded;
    // The response has ended already: this is for the log.
    if (forwarded.failure !== undefined) throw forwarded.failure;
  } catch (error) {
    failure = error;
    const known = { requestId, configuration, trace, request, host, endpoint, route, body };
    const answer = stages.answerFailure(error, known);
    if (answer === undefined) response.destroy();
    else sent ??= sendResponse(response, answer, requestId);
  } finally {
    finishRequest(
      {
        requestId,
        startedAt,
        trace,
        request,
        host,
        endpoint,
        route,
        body,
        upstream,
        sent,
        failure,
        settings: configuration.settings,
      },
      stages,
    );
  }
}
