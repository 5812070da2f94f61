/** What travels between processes of a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** The value of `tracestate`: what other systems of the trace want to be passed on. */
  readonly traceState?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;
/** W3C Trace Context, section 3.3.1.5, wants at least this much to be passed on. */
const MAX_TRACE_STATE = 512;
const MAX_TRACE_STATE_MEMBERS = 32;
/** W3C Trace Context, section 3.3.1.3. */
const TRACE_STATE_MEMBER = /^[ \t]*[a-z0-9][a-z0-9_\-*/@]*=[ -+\--<>-~]*[!-+\--<>-~][ \t]*$/;

/**
 * Reads a `traceparent` with its `tracestate`; undefined if it is not valid (W3C Trace Context, section 3.2).
 *
 * A `tracestate` that is not valid or too long is dropped, and the trace goes on without it.
 */
export function parseTraceparent(text: string, traceState?: string): TraceContext | undefined {
  const match = TRACEPARENT.exec(text);
  if (match === null) return undefined;
  const [, version, traceId = NO_TRACE, spanId = NO_SPAN, flags = '', more] = match;
  // Version ff is forbidden, and only later versions may have more fields.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  const context = { traceId, spanId, isSampled };
  return isTraceState(traceState) ? { ...context, traceState } : context;
}

function isTraceState(text: string | undefined): text is string {
  if (text === undefined || text.length > MAX_TRACE_STATE) return false;
  const members = text.split(',');
  if (members.length > MAX_TRACE_STATE_MEMBERS) return false;
  return members.every((member) => TRACE_STATE_MEMBER.test(member));
}

/** Returns the `traceparent` of a context. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
