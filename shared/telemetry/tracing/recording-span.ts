import { performance } from 'node:perf_hooks';

import { describeException } from './describe-exception.ts';
import { randomSpanId } from './ids.ts';
import type {
  AttributeName,
  Attributes,
  AttributeValue,
  EventName,
  SpanKind,
  SpanName,
} from './names.ts';
import type { Span } from './trace.ts';
import type { TraceContext } from './trace-context.ts';

/** Attributes, events and links of a span, each: further ones are counted only. */
const MAX_ENTRIES = 128;

/** Names and values in turn: half the memory and time of objects. */
export type AttributeList = readonly (string | AttributeValue)[];

/** Something that happened during a span. */
export interface SpanEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes: AttributeList;
}

/** A span that has ended. Times are milliseconds of `performance.now()`. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
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
  /** The description of the error, if the status is `error`. */
  readonly error: string | undefined;
}

/** What spans are recorded with. */
export interface Recording {
  /** Characters of a text. */
  readonly maxLength: number;
  /** Takes a span that has ended. */
  add(span: EndedSpan): void;
}

/** What all spans of a trace in this process share, so that `join` moves them together. */
export interface TraceIdentity {
  traceId: string;
  traceState: string | undefined;
  /** False once the trace has joined one that is not sampled. */
  isSampled: boolean;
}

/** Where a span is in its trace, and what it is about. */
export interface SpanStart {
  readonly trace: TraceIdentity;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAt: number;
}

const NONE: readonly never[] = [];

/** A span of a sampled trace. */
export class RecordingSpan implements Span, EndedSpan {
  readonly spanId = randomSpanId();
  parentSpanId: string | undefined;
  readonly kind: SpanKind;
  readonly startedAt: number;
  name: string;
  endedAt = 0;
  error: string | undefined = undefined;
  readonly attributes: (string | AttributeValue)[] = [];
  droppedAttributes = 0;
  events: readonly SpanEvent[] = NONE;
  droppedEvents = 0;
  links: readonly TraceContext[] = NONE;
  droppedLinks = 0;
  readonly #trace: TraceIdentity;
  readonly #recording: Recording;
  #isOver = false;

  constructor(start: SpanStart, recording: Recording) {
    this.#trace = start.trace;
    this.parentSpanId = start.parentSpanId;
    this.name = start.name;
    this.kind = start.kind;
    this.startedAt = start.startedAt;
    this.#recording = recording;
  }

  get traceId(): string {
    return this.#trace.traceId;
  }

  get traceState(): string | undefined {
    return this.#trace.traceState;
  }

  get span(): Span | undefined {
    return this.#trace.isSampled ? this : undefined;
  }

  get context(): TraceContext {
    const { traceId, traceState, isSampled } = this.#trace;
    // The parent of what follows is a span that is recorded.
    const spanId = isSampled ? this.spanId : (this.parentSpanId ?? this.spanId);
    const context = { traceId, spanId, isSampled };
    return traceState === undefined ? context : { ...context, traceState };
  }

  join(context: TraceContext): void {
    if (this.parentSpanId !== undefined) {
      if (context.traceId !== this.traceId && context.isSampled) this.link(context);
      return;
    }
    this.parentSpanId = context.spanId;
    this.#trace.traceId = context.traceId;
    this.#trace.traceState = context.traceState;
    this.#trace.isSampled = context.isSampled;
  }

  set(name: AttributeName, value: AttributeValue): void {
    if (this.#isOver) return;
    const { attributes } = this;
    const cut = this.#cut(value);
    for (let index = 0; index < attributes.length; index += 2) {
      if (attributes[index] === name) {
        attributes[index + 1] = cut;
        return;
      }
    }
    if (attributes.length < MAX_ENTRIES * 2) attributes.push(name, cut);
    else this.droppedAttributes += 1;
  }

  link(context: TraceContext): void {
    if (this.#isOver) return;
    if (this.links.length < MAX_ENTRIES) this.links = [...this.links, context];
    else this.droppedLinks += 1;
  }

  rename(name: string): void {
    if (!this.#isOver) this.name = cutWhole(name, this.#recording.maxLength);
  }

  recordError(error: unknown): void {
    if (this.#isOver) return;
    const { type, message, stack, isRefusal } = describeException(error);
    this.set('error.type', type);
    const described = ['exception.type', this.#cut(type), 'exception.message', this.#cut(message)];
    if (stack !== undefined) described.push('exception.stacktrace', this.#cut(stack));
    this.#addEvent({ name: 'exception', at: performance.now(), attributes: described });
    if (!isRefusal) this.error = this.#cut(message);
  }

  fail(type: string): void {
    if (this.#isOver) return;
    this.set('error.type', type);
    this.error ??= '';
  }

  event(name: EventName, attributes: Attributes = {}): void {
    if (this.#isOver) return;
    const list = Object.entries(attributes).flatMap(([key, value]) => [key, this.#cut(value)]);
    this.#addEvent({ name, at: performance.now(), attributes: list });
  }

  child(
    name: SpanName,
    kind: SpanKind,
    attributes?: Attributes,
    startedAt = performance.now(),
  ): RecordingSpan {
    const start = { trace: this.#trace, parentSpanId: this.spanId, name, kind, startedAt };
    const child = new RecordingSpan(start, this.#recording);
    if (attributes !== undefined) setAll(child, attributes);
    return child;
  }

  end(at = performance.now()): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.endedAt = at;
    if (this.#trace.isSampled) this.#recording.add(this);
  }

  #addEvent(event: SpanEvent): void {
    if (this.events.length < MAX_ENTRIES) this.events = [...this.events, event];
    else this.droppedEvents += 1;
  }

  #cut<Value extends AttributeValue>(value: Value): Value;
  #cut(value: AttributeValue): AttributeValue {
    const { maxLength } = this.#recording;
    if (typeof value === 'string') return cutWhole(value, maxLength);
    return typeof value === 'object' ? value.map((text) => cutWhole(text, maxLength)) : value;
  }
}

/** Sets attributes of an object on a span. */
export function setAll(span: Span, attributes: Attributes): void {
  for (const name in attributes) {
    const value = attributes[name as AttributeName];
    if (value !== undefined) span.set(name as AttributeName, value);
  }
}

const HIGH_SURROGATES = 0xd800;
const LOW_SURROGATES = 0xdc00;

/** Returns the beginning of a text, without half of a character at its end. */
function cutWhole(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  const isHalf = last >= HIGH_SURROGATES && last < LOW_SURROGATES;
  return text.slice(0, isHalf ? maxLength - 1 : maxLength);
}
