import { performance } from 'node:perf_hooks';

import type { Span, Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import type { MeasuredRequest, RequestMetrics } from '../telemetry/metrics/request-metrics.ts';
import { endRequestSpan } from '../telemetry/tracing/request-span.ts';
import { endUpstreamSpan } from '../telemetry/tracing/upstream-span.ts';
import type { MatchedHost } from './match-host.ts';

/** A request or WebSocket that is over, and what was known of it by then. */
export interface FinishedRequest extends MeasuredRequest {
  readonly requestId: string;
  /** Undefined while tracing is off. */
  readonly trace: Trace | undefined;
  readonly host: MatchedHost | undefined;
  /** Present once there was a request for the upstream. */
  readonly upstream: UpstreamRequest | undefined;
  /** Those that it began with. */
  readonly settings: Pick<CompiledSettings, 'accessLog'>;
}

/** Records a request that is over, however it ended. */
export function finishRequest(
  finished: FinishedRequest,
  {
    accessLog,
    metrics,
  }: {
    readonly accessLog: Pick<AccessLog, 'write'>;
    readonly metrics: Pick<RequestMetrics, 'count'>;
  },
): void {
  metrics.count(finished);
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
