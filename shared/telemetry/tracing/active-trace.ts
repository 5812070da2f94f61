import { AsyncLocalStorage } from 'node:async_hooks';

import type { Attributes, SpanKind, SpanName } from './names.ts';
import type { Span, Trace } from './trace.ts';
import type { Tracer } from './tracer.ts';
import { formatTraceparent, type TraceContext } from './trace-context.ts';

const active = new AsyncLocalStorage<Trace | undefined>();

/** Returns the trace that the running work belongs to: a sampled one, or one that may join a sampled one. */
export function activeTrace(): Trace | undefined {
  return active.getStore();
}

/**
 * Runs work that belongs to a trace, also in what it waits for.
 *
 * Only sampled traces become active: the others have nothing to record, and cost nothing more.
 */
export function withTrace<Result>(trace: Trace | undefined, work: () => Result): Result {
  return trace?.span === undefined ? work() : active.run(trace, work);
}

/**
 * Runs work that may find out that it belongs to an earlier trace: then what it waits for is recorded if that one
 * is sampled, whatever was decided before.
 */
export function withJoiningTrace<Result>(trace: Trace | undefined, work: () => Result): Result {
  return trace === undefined ? work() : active.run(trace, work);
}

/**
 * Runs work in a child span of the active trace, which ends with the work and records its error.
 * Without an active trace it only runs the work.
 */
export async function inSpan<Result>(
  name: SpanName,
  kind: SpanKind,
  attributes: Attributes,
  work: (span?: Span) => Promise<Result>,
): Promise<Result> {
  const parent = active.getStore()?.span;
  if (parent === undefined) return work();
  const span = parent.child(name, kind, attributes);
  try {
    return await active.run(span, work, span);
  } catch (error) {
    span.recordError(error);
    throw error;
  } finally {
    span.end();
  }
}

/**
 * Runs work beside the work that caused it, such as a renewal that no request waits for: in a trace of its own,
 * linked to that of the cause. It ends with the work, and records its error.
 */
export function inOwnTrace<Result>(
  tracer: Pick<Tracer, 'start'> | undefined,
  name: SpanName,
  work: () => Promise<Result>,
): Promise<Result> {
  const cause = activeTrace()?.context;
  const links = cause?.isSampled === true ? [cause] : [];
  const span = tracer?.start(name, 'internal', { links })?.span;
  return active.run(span, async () => {
    try {
      return await work();
    } catch (error) {
      span?.recordError(error);
      throw error;
    } finally {
      span?.end();
    }
  });
}

/** Adds the trace context to the header fields of an outgoing request: of the active trace, unless one is given. */
export function injectTrace(
  headers: Record<string, string>,
  context: TraceContext | undefined = activeTrace()?.context,
): void {
  if (context === undefined) return;
  headers['traceparent'] = formatTraceparent(context);
  if (context.traceState !== undefined) headers['tracestate'] = context.traceState;
}
