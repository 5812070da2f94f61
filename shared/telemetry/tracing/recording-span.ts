import { performance } from 'node:perf_hooks';

import { describeException } from './describe-exception.ts';
import type { EndedSpan, SpanEvent } from './ended-span.ts';
import { SpanId, type TraceId } from './ids.ts';
import type { LocalTrace } from './local-trace.ts';
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

/** What a span is about. */
export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAt: number;
}

const NONE: readonly never[] = [];

/** A span of a sampled trace. */
export class RecordingSpan implements Span, EndedSpan {
  readonly id = SpanId.random();
  readonly kind: SpanKind;
  readonly startedAt: number;
  readonly attributes = { names: [] as AttributeName[], values: [] as AttributeValue[] };
  parent: SpanId | undefined;
  isParentRemote: boolean;
  name: string;
  endedAt = 0;
  error: string | undefined = undefined;
  droppedAttributes = 0;
  events: readonly SpanEvent[] = NONE;
  droppedEvents = 0;
  links: readonly TraceContext[] = NONE;
  droppedLinks = 0;
  readonly #trace: LocalTrace;
  readonly #isFirst: boolean;
  #isOver = false;

  /** Starts a span below one of this process, or the first of a trace below one of another process, if any. */
  constructor(
    { name, kind, startedAt }: SpanStart,
    trace: LocalTrace,
    parent: RecordingSpan | TraceContext | undefined,
  ) {
    this.name = name;
    this.kind = kind;
    this.startedAt = startedAt;
    this.#trace = trace;
    const isLocal = parent instanceof RecordingSpan;
    this.parent = isLocal ? parent.id : parent && SpanId.parse(parent.spanId);
    this.isParentRemote = !isLocal && parent !== undefined;
    this.#isFirst = !isLocal;
  }

  get trace(): TraceId {
    return this.#trace.id;
  }

  get traceState(): string | undefined {
    return this.#trace.state;
  }

  get span(): Span | undefined {
    return this.#trace.isSampled ? this : undefined;
  }

  get context(): TraceContext {
    const { id, state, isSampled } = this.#trace;
    // The parent of what follows is a span that is recorded.
    const span = isSampled ? this.id : (this.parent ?? this.id);
    const context = { traceId: id.text, spanId: span.text, isSampled };
    return state === undefined ? context : { ...context, traceState: state };
  }

  join(context: TraceContext): void {
    if (this.parent !== undefined) {
      if (context.traceId !== this.trace.text && context.isSampled) this.link(context);
      return;
    }
    this.parent = SpanId.parse(context.spanId);
    this.isParentRemote = true;
    this.#trace.join(context);
  }

  set(name: AttributeName, value: AttributeValue): void {
    if (this.#isOver) return;
    const { names, values } = this.attributes;
    const known = indexOf(names, name);
    if (known >= 0) values[known] = this.#cut(value);
    else this.add(name, value);
  }

  add(name: AttributeName, value: AttributeValue): void {
    if (this.#isOver) return;
    const { names, values } = this.attributes;
    if (names.length === MAX_ENTRIES) {
      this.droppedAttributes += 1;
      return;
    }
    names.push(name);
    values.push(this.#cut(value));
  }

  link(context: TraceContext): void {
    if (this.#isOver) return;
    if (this.links.length < MAX_ENTRIES) this.links = [...this.links, context];
    else this.droppedLinks += 1;
  }

  rename(name: string): void {
    if (!this.#isOver) this.name = cutWhole(name, this.#trace.maxLength);
  }

  recordError(error: unknown): void {
    if (this.#isOver) return;
    const { type, message, stack, isRefusal } = describeException(error);
    this.set('error.type', type);
    const described = { 'exception.type': type, 'exception.message': message };
    const withStack =
      stack === undefined ? described : { ...described, 'exception.stacktrace': stack };
    this.#addEvent('exception', withStack);
    if (!isRefusal) this.error = this.#cut(message);
  }

  fail(type: string): void {
    if (this.#isOver) return;
    this.set('error.type', type);
    this.error ??= '';
  }

  event(name: EventName, attributes: Attributes = {}): void {
    if (!this.#isOver) this.#addEvent(name, attributes);
  }

  child(
    name: SpanName,
    kind: SpanKind,
    attributes?: Attributes,
    startedAt = performance.now(),
  ): RecordingSpan {
    const child = new RecordingSpan({ name, kind, startedAt }, this.#trace, this);
    if (attributes !== undefined) setAll(child, attributes);
    return child;
  }

  end(at = performance.now()): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.endedAt = Math.max(at, this.startedAt);
    this.#trace.add(this, this.#isFirst);
  }

  #addEvent(name: string, attributes: Readonly<Record<string, AttributeValue>>): void {
    if (this.events.length === MAX_ENTRIES) {
      this.droppedEvents += 1;
      return;
    }
    const names = Object.keys(attributes);
    const values = Object.values(attributes).map((value) => this.#cut(value));
    this.events = [...this.events, { name, at: performance.now(), attributes: { names, values } }];
  }

  #cut<Value extends AttributeValue>(value: Value): Value;
  #cut(value: AttributeValue): AttributeValue {
    const { maxLength } = this.#trace;
    if (typeof value === 'string') return cutWhole(value, maxLength);
    if (typeof value !== 'object' || value.every((text) => text.length <= maxLength)) return value;
    return value.map((text) => cutWhole(text, maxLength));
  }
}

/** As the method of arrays, which costs four times as much: it is not inlined. */
function indexOf(names: readonly AttributeName[], name: AttributeName): number {
  for (let index = 0; index < names.length; index += 1) if (names[index] === name) return index;
  return -1;
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
