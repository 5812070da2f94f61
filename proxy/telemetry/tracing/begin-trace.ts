import type { CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import type { Trace } from '../../../shared/telemetry/tracing/trace.ts';
import {
  parseTraceparent,
  type TraceContext,
} from '../../../shared/telemetry/tracing/trace-context.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import { isTrustedProxy } from '../../configuration/server-in-front.ts';
import type { RequestMessage } from '../../http/request-message.ts';
import { rawHeaderValues } from '../../mcp/raw-header.ts';

/** What starts the traces of requests. */
export type RequestTracer = Pick<Tracer, 'settings' | 'start'>;

/**
 * Starts the trace of a request; undefined while tracing is off.
 *
 * A trusted proxy's trace is continued, if the settings do not forbid it. Any other that the request names is
 * linked only. `startedAt` is by `performance.now()`; now if absent. Attack: a stranger whose sampling decision counted could have each request traced, or none.
 */
export function beginTrace(
  tracer: RequestTracer | undefined,
  { rawHeaders, socket }: Pick<RequestMessage, 'rawHeaders' | 'socket'>,
  settings: Pick<CompiledSettings, 'trustedProxies'>,
  startedAt?: number,
): Trace | undefined {
  const tracing = tracer?.settings;
  if (tracing === undefined) return undefined;
  const named = namedTrace(rawHeaders);
  if (named === undefined) return tracer?.start('request', 'server', { startedAt });
  const isContinued =
    tracing.incomingContext === 'TrustedProxies' &&
    isTrustedProxy(socket.remoteAddress ?? '', settings);
  const how = isContinued ? { parent: named, startedAt } : { links: [named], startedAt };
  return tracer?.start('request', 'server', how);
}

/** Returns the trace context in the header fields; undefined if there is none, or none that is valid. */
function namedTrace(rawHeaders: readonly string[]): TraceContext | undefined {
  const [traceparent, ...others] = rawHeaderValues(rawHeaders, 'traceparent');
  if (traceparent === undefined || others.length > 0) return undefined;
  // W3C Trace Context, section 3.3: the lines of a repeated field are one list.
  const states = rawHeaderValues(rawHeaders, 'tracestate');
  return parseTraceparent(traceparent, states.length === 0 ? undefined : states.join(','));
}
