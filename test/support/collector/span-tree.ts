import type { ReceivedSpan } from './received-span.ts';

/** A span with the spans that were made below it, in the order of their starts. */
export interface SpanTree {
  readonly span: ReceivedSpan;
  readonly children: readonly SpanTree[];
}

/**
 * Arranges the spans of one trace as trees. More than one means that a span is missing, or that it is of
 * a process whose spans the collector does not receive.
 */
export function buildSpanTrees(spans: readonly ReceivedSpan[]): SpanTree[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const byParent = Map.groupBy(spans, ({ parentSpanId }) =>
    parentSpanId !== undefined && ids.has(parentSpanId) ? parentSpanId : undefined,
  );
  const below = (parent: string | undefined): SpanTree[] =>
    (byParent.get(parent) ?? [])
      .toSorted((one, other) => (one.start < other.start ? -1 : 1))
      .map((span) => ({ span, children: below(span.spanId) }));
  return below(undefined);
}
