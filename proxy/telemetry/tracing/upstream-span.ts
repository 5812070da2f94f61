import type { Span } from '../../../shared/telemetry/tracing/trace.ts';
import type { Forwarded } from '../../forwarding/forwarded.ts';
import { originAddress } from '../../forwarding/origin-address.ts';
import { hostOf, type UpstreamRequest } from '../../forwarding/request/upstream-request.ts';
import type { GatewayRequest } from '../../http/gateway-request.ts';
import { nameOfMethod, setMethod } from './set-method.ts';
import { schemeOf } from './scheme-of.ts';
import { setServer } from './set-server.ts';
import { tracedPath } from './traced-path.ts';

/**
 * Starts the span of a request to an upstream, whose path has its query still; undefined if the client's
 * request has no span.
 */
export function startUpstreamSpan(
  { method, trace }: GatewayRequest,
  origin: string,
  path: string,
): Span | undefined {
  const span = trace?.span?.child('upstream request', 'client');
  if (span === undefined) return undefined;
  const mark = path.indexOf('?');
  span.rename(nameOfMethod(method));
  setMethod(span, method);
  span.add('url.full', origin + tracedPath(mark === -1 ? path : path.slice(0, mark)));
  setServer(span, hostOf(origin), schemeOf(origin));
  return span;
}

const FIRST_CLIENT_ERROR = 400;

/** How a request to an upstream ended. */
export interface UpstreamOutcome {
  /** Absent if the client got no response of the upstream. */
  readonly forwarded: Forwarded | undefined;
  readonly error: unknown;
  /** By `performance.now()`. */
  readonly endedAt: number;
}

/** Ends the span of a request to an upstream. */
export function endUpstreamSpan(
  { span, origin }: Pick<UpstreamRequest, 'span' | 'origin'>,
  { forwarded, error, endedAt }: UpstreamOutcome,
): void {
  if (span === undefined) return;
  if (forwarded !== undefined && forwarded.upstream !== origin) setPeer(span, forwarded.upstream);
  if (error !== undefined) span.recordError(error);
  else if (forwarded !== undefined && forwarded.status >= FIRST_CLIENT_ERROR) {
    span.fail(String(forwarded.status));
  }
  span.end(endedAt);
}

/** Names the target of a Service, whose origin is an address and a port. */
function setPeer(span: Span, origin: string): void {
  const { host, port } = originAddress(origin);
  span.add('network.peer.address', host);
  span.add('network.peer.port', port);
}
