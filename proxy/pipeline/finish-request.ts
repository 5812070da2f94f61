import { performance } from 'node:perf_hooks';

import type { Span, Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Forwarded } from '../forwarding/forwarded.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { SentResponse } from '../http/send-response.ts';
import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import { endRequestSpan } from '../telemetry/tracing/request-span.ts';
import { endUpstreamSpan } from '../telemetry/tracing/upstream-span.ts';
import type { InspectedBody } from './inspect.ts';
import type { MatchedHost } from './match-host.ts';

/** A request or WebSocket that is over, and what was known of it by then. */
export interface FinishedRequest {
  readonly requestId: string;
  /** When it began, by `performance.now()`. */
  readonly startedAt: number;
  /** Undefined while tracing is off. */
  readonly trace: Trace | undefined;
  /** Absent if its head could not be parsed. */
  readonly request: GatewayRequest | undefined;
  readonly host: MatchedHost | undefined;
  /** Present if the request was for an endpoint of the gateway. */
  readonly endpoint?: Endpoint | undefined;
  /** Absent if none was matched. */
  readonly route: GatewayRoute | undefined;
  /** Of a request to an MCP route. */
  readonly body?: InspectedBody | undefined;
  /** Present once there was a request for the upstream. */
  readonly upstream: UpstreamRequest | undefined;
  /** The gateway's own response, or a forwarded one. Absent if the client got none. */
  readonly sent: SentResponse | Forwarded | undefined;
  /** Why the request was refused, or has no whole response; absent if neither. */
  readonly failure: unknown;
  /** Those that it began with. */
  readonly settings: Pick<CompiledSettings, 'accessLog'>;
}

/** Records a request that is over, however it ended. */
export function finishRequest(
  finished: FinishedRequest,
  { accessLog }: { readonly accessLog: Pick<AccessLog, 'write'> },
): void {
  accessLog.write(finished, finished.settings);
  const span = finished.trace?.span;
  if (span !== undefined) endSpans(span, finished);
}

function endSpans(
  span: Span,
  { requestId, request, host, endpoint, route, body, upstream, sent, failure }: FinishedRequest,
): void {
  const endedAt = performance.now();
  if (upstream !== undefined) {
    const forwarded = sent !== undefined && 'upstream' in sent ? sent : undefined;
    endUpstreamSpan(upstream, { forwarded, error: failure, endedAt });
  }
  endRequestSpan(span, {
    requestId,
    request,
    origin: host?.origin,
    isForEndpoint: endpoint !== undefined,
    route,
    message: body?.message,
    status: sent?.status,
    error: failure,
    endedAt,
  });
}
