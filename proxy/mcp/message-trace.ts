import { isRecord } from '../../shared/runtime/is-record.ts';
import {
  parseTraceparent,
  type TraceContext,
} from '../../shared/telemetry/tracing/trace-context.ts';
import { member } from '../json/json-object.ts';
import type { JsonRpcMessage } from './json-rpc.ts';

/**
 * Returns the trace that a client says a message belongs to, in `params._meta.traceparent` (MCP, SEP-414);
 * undefined if it says none, or not in the form of W3C Trace Context.
 */
export function traceOfMessage({
  params,
}: Pick<JsonRpcMessage, 'params'>): TraceContext | undefined {
  const meta = member(params, '_meta');
  const traceparent = isRecord(meta) ? member(meta, 'traceparent') : undefined;
  return typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
}
