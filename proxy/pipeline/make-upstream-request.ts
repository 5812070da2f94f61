import type { Span } from '../../shared/telemetry/tracing/trace.ts';
import {
  upstreamHeaders,
  type UpstreamCredentials,
} from '../forwarding/request/upstream-headers.ts';
import type { UpstreamRequest } from '../forwarding/request/upstream-request.ts';
import { upstreamPath } from '../forwarding/upstream-path.ts';
import { startUpstreamSpan } from '../telemetry/tracing/upstream-span.ts';
import type { ChosenUpstream } from './choose-upstream.ts';
import type { Permit } from './permit.ts';

/**
 * Makes the request for the upstream from the permitted one: its URL, the client's header fields
 * without those that only the gateway may write, its credentials, and the body that policy saw.
 *
 * A request that is made again, from the first one, keeps its span.
 */
export function makeUpstreamRequest(
  { request, route, body }: Permit,
  credentials: UpstreamCredentials,
  { origin, choice, span: first }: ChosenUpstream & { readonly span?: Span | undefined },
): UpstreamRequest {
  const { compiled } = route;
  const path = upstreamPath(compiled, request);
  const span = first ?? startUpstreamSpan(request, origin, path);
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the one place that makes the brand
  return {
    request,
    origin,
    choice,
    path,
    headers: upstreamHeaders(request, compiled, credentials, (span ?? request.trace)?.context),
    passResponseHeaders: compiled.passResponseHeaders,
    body: body?.bytes ?? (compiled.mcpServer === undefined ? 'stream' : 'none'),
    responseTimeoutMs: compiled.responseTimeoutMs,
    span,
  } as UpstreamRequest;
}
