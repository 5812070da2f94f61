import type {
  AttributeName,
  Attributes,
  AttributeValue,
  EventName,
  SpanKind,
  SpanName,
} from './names.ts';
import type { TraceContext } from './trace-context.ts';

/** What is traced of one piece of work, such as a request. There is none while tracing is off. */
export interface Trace {
  /** What is passed on: to logs, to upstreams, and to later requests of the same sign-in. */
  readonly context: TraceContext;
  /** Absent if the trace is not sampled. */
  readonly span?: Span | undefined;
  /**
   * Makes this a part of an earlier trace, whose sampling decision counts from now on: one that a request
   * names by a state of ours. A trace that has a parent already keeps it, and is linked only.
   */
  join(context: TraceContext): void;
}

/**
 * A span that has started, which is also the trace of the work below it. Times are milliseconds of
 * `performance.now()`.
 */
export interface Span extends Trace {
  /** Sets an attribute. Texts are cut to the limit of the settings. After `end` it does nothing. */
  set(name: AttributeName, value: AttributeValue): void;
  /** Does the same for an attribute that was not set before: it is not looked for, which costs a quarter. */
  add(name: AttributeName, value: AttributeValue): void;
  /** Links another trace: one that led to this, and is not its parent. */
  link(context: TraceContext): void;
  rename(name: string): void;
  /**
   * Adds an event with the error, cleaned of what does not belong in a trace, and sets the status to `error`.
   * The status stays as it is after a refusal (`GatewayError` below 500), which is the caller's fault.
   */
  recordError(error: unknown): void;
  /** Sets the status to `error` for a failure that threw nothing, such as a response with status 503. */
  fail(type: string): void;
  /** Adds an event that happens now. */
  event(name: EventName, attributes?: Attributes): void;
  child(name: SpanName, kind: SpanKind, attributes?: Attributes, startedAt?: number): Span;
  /** Ends the span, once; now unless `at` says when. */
  end(at?: number): void;
}
