import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';
import type { GatewayRequest } from './gateway-request.ts';

type TracedRequest = Pick<GatewayRequest, 'trace'>;

/**
 * Returns the trace of a request for a sealed state or a record, so that a later request of the same sign-in,
 * authorization or connection continues it. An unsampled one too: the decision is made once.
 *
 * Without `tracestate`, which other systems chose, and which may be long.
 */
export function carriedTrace({ trace }: TracedRequest): { readonly trace?: TraceContext } {
  if (trace === undefined) return {};
  const { traceId, spanId, isSampled } = trace.context;
  return { trace: { traceId, spanId, isSampled } };
}

/**
 * Makes a request part of the trace that a sealed state or a record carried.
 *
 * Attack: whoever can name the trace of another request could choose trace ids, or mix their requests into the
 * trace of a victim. So call it only with what a seal or a store gave, and after all checks that bind that to the
 * browser or client.
 */
export function continueTrace(
  { trace }: TracedRequest,
  carried: { readonly trace?: TraceContext | undefined },
): void {
  if (carried.trace !== undefined) trace?.join(carried.trace);
}
