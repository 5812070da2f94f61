import type { SpanId, TraceId } from './ids.ts';
import type { AttributeValue, SpanKind } from './names.ts';
import type { TraceContext } from './trace-context.ts';

/** Attributes, by the index of their name. Two lists take half the memory and time of objects. */
export interface AttributeList {
  readonly names: readonly string[];
  readonly values: readonly AttributeValue[];
}

/** Something that happened during a span. */
export interface SpanEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes: AttributeList;
}

/** A span that has ended. Times are milliseconds of `performance.now()`. */
export interface EndedSpan {
  readonly trace: TraceId;
  readonly id: SpanId;
  readonly parent: SpanId | undefined;
  /** Whether the parent is a span of another process, or of an earlier request. */
  readonly isParentRemote: boolean;
  readonly traceState: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: AttributeList;
  readonly droppedAttributes: number;
  readonly events: readonly SpanEvent[];
  readonly droppedEvents: number;
  readonly links: readonly TraceContext[];
  readonly droppedLinks: number;
  /** The description of the error, if the status is `error`; it may be empty. */
  readonly error: string | undefined;
}

/** What spans are recorded with. */
export interface Recording {
  /** Characters of a text. */
  readonly maxLength: number;
  /** Takes a span that has ended. */
  add(span: EndedSpan): void;
}
