import { AttributeCache } from './attribute-cache.ts';
import { SpanId, TraceId } from '../ids.ts';
import type { AttributeValue, SpanKind } from '../names.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { SpanTemplate } from './span-template.ts';
import type { AttributeList, EndedSpan, SpanEvent } from '../ended-span.ts';
import type { TraceContext } from '../trace-context.ts';

/** Tags of opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto. */
const SCOPE_SPANS = { span: 0x12 };
const SPAN = {
  traceId: 0x0a,
  spanId: 0x12,
  traceState: 0x1a,
  parentSpanId: 0x22,
  name: 0x2a,
  kind: 0x30,
  start: 0x39,
  end: 0x41,
  attribute: 0x4a,
  droppedAttributes: 0x50,
  event: 0x5a,
  droppedEvents: 0x60,
  link: 0x6a,
  droppedLinks: 0x70,
  status: 0x7a,
  /** Field 16: its tag has two bytes when written. */
  flags: (16 << 3) | 5,
};
const EVENT = { time: 0x09, name: 0x12, attribute: 0x1a };
const LINK = { traceId: 0x0a, spanId: 0x12, traceState: 0x1a, flags: 0x35 };
const STATUS = { message: 0x12, code: 0x18 };
const KEY_VALUE = { key: 0x0a, value: 0x12 };
const ANY_VALUE = { text: 0x0a, bool: 0x10, int: 0x18, double: 0x21, array: 0x2a };
const ARRAY_VALUE = { value: 0x0a };

const STATUS_ERROR = 2;
const FLAG_SAMPLED = 0x1;
const FLAG_KNOWS_REMOTE = 0x100;
const FLAG_REMOTE = 0x200;
const NANOSECONDS = 1_000_000;
const MAX_WORD = 2 ** 31;
const MAX_INT64 = 2 ** 63;

/**
 * Writes a span as an entry of `ScopeSpans.spans`. `timeOrigin` is the Unix time, in milliseconds, at which
 * `performance.now()` was zero.
 */
export function encodeSpan(writer: ProtobufWriter, span: EndedSpan, timeOrigin: number): void {
  // Only a span without attributes is probably short.
  const isLong = span.attributes.names.length > 0;
  const start = isLong ? writer.openLong(SCOPE_SPANS.span) : writer.open(SCOPE_SPANS.span);
  writer.traceId(SPAN.traceId, span.trace);
  writer.spanId(SPAN.spanId, span.id);
  if (span.traceState !== undefined) writer.text(SPAN.traceState, span.traceState);
  if (span.parent !== undefined) writer.spanId(SPAN.parentSpanId, span.parent);
  writer.text(SPAN.name, span.name);
  writer.varint(SPAN.kind, kindCode(span.kind));
  writer.fixed64(SPAN.start, (timeOrigin + span.startedAt) * NANOSECONDS);
  writer.fixed64(SPAN.end, (timeOrigin + span.endedAt) * NANOSECONDS);
  encodeSpanAttributes(writer, span);
  encodeCount(writer, SPAN.droppedAttributes, span.droppedAttributes);
  for (const event of span.events) encodeEvent(writer, event, timeOrigin);
  encodeCount(writer, SPAN.droppedEvents, span.droppedEvents);
  for (const link of span.links) encodeLink(writer, link);
  encodeCount(writer, SPAN.droppedLinks, span.droppedLinks);
  if (span.error !== undefined) encodeError(writer, span.error);
  const remote = span.isParentRemote ? FLAG_REMOTE : 0;
  writer.fixed32(SPAN.flags, FLAG_SAMPLED | FLAG_KNOWS_REMOTE | remote);
  if (isLong) writer.closeLong(start);
  else writer.close(start);
}

function kindCode(kind: SpanKind): number {
  switch (kind) {
    case 'internal':
      return 1;
    case 'server':
      return 2;
    case 'client':
      return 3;
  }
}

/** Zero is the default of protobuf, and not written. */
function encodeCount(writer: ProtobufWriter, tag: number, count: number): void {
  if (count > 0) writer.varint(tag, count);
}

function encodeError(writer: ProtobufWriter, message: string): void {
  const start = writer.open(SPAN.status);
  if (message !== '') writer.text(STATUS.message, message);
  writer.varint(STATUS.code, STATUS_ERROR);
  writer.close(start);
}

function encodeEvent(writer: ProtobufWriter, event: SpanEvent, timeOrigin: number): void {
  const start = writer.open(SPAN.event);
  writer.fixed64(EVENT.time, (timeOrigin + event.at) * NANOSECONDS);
  writer.text(EVENT.name, event.name);
  encodeAttributes(writer, EVENT.attribute, event.attributes);
  writer.close(start);
}

function encodeLink(writer: ProtobufWriter, link: TraceContext): void {
  const start = writer.open(SPAN.link);
  writer.traceId(LINK.traceId, TraceId.parse(link.traceId));
  writer.spanId(LINK.spanId, SpanId.parse(link.spanId));
  if (link.traceState !== undefined) writer.text(LINK.traceState, link.traceState);
  const sampled = link.isSampled ? FLAG_SAMPLED : 0;
  writer.fixed32(LINK.flags, sampled | FLAG_KNOWS_REMOTE | FLAG_REMOTE);
  writer.close(start);
}

const cache = new AttributeCache();
const templates: Readonly<Record<SpanKind, SpanTemplate>> = {
  internal: new SpanTemplate(),
  server: new SpanTemplate(),
  client: new SpanTemplate(),
};

function encodeSpanAttributes(
  writer: ProtobufWriter,
  { kind, attributes }: Pick<EndedSpan, 'kind' | 'attributes'>,
): void {
  const { names } = attributes;
  if (names.length === 0) return;
  const template = templates[kind];
  let isSame = true;
  let index = 0;
  while (index < names.length) {
    const run = template.runFrom(index, attributes);
    if (run === undefined) {
      encodeSpanAttribute(writer, attributes, index);
      isSame = false;
      index += 1;
    } else {
      writer.raw(run.written);
      index = run.end;
    }
  }
  if (!isSame && template.wantsOther()) replaceTemplate(template, attributes);
}

const templateWriter = new ProtobufWriter();

function replaceTemplate(template: SpanTemplate, attributes: AttributeList): void {
  const writer = templateWriter;
  const starts = attributes.names.map((_, index) => {
    const start = writer.length;
    encodeSpanAttribute(writer, attributes, index);
    return start;
  });
  starts.push(writer.length);
  template.replace(attributes, writer.take(), starts);
}

function encodeSpanAttribute(
  writer: ProtobufWriter,
  { names, values }: AttributeList,
  index: number,
): void {
  const name = names[index] ?? '';
  const value = values[index] ?? '';
  const known = cache.find(name, value);
  if (known !== undefined) {
    writer.raw(known);
    return;
  }
  const start = writer.length;
  encodeAttribute(writer, SPAN.attribute, name, value);
  if (cache.wants(name, value)) cache.add(name, value, writer.since(start));
}

/** Writes attributes as a repeated `KeyValue`. */
export function encodeAttributes(
  writer: ProtobufWriter,
  tag: number,
  { names, values }: AttributeList,
): void {
  names.forEach((name, index) => encodeAttribute(writer, tag, name, values[index] ?? ''));
}

function encodeAttribute(
  writer: ProtobufWriter,
  tag: number,
  name: string,
  content: AttributeValue,
): void {
  const start = writer.open(tag);
  writer.text(KEY_VALUE.key, name);
  const value = writer.open(KEY_VALUE.value);
  encodeValue(writer, content);
  writer.close(value);
  writer.close(start);
}

function encodeValue(writer: ProtobufWriter, value: AttributeValue): void {
  if (typeof value === 'string') writer.text(ANY_VALUE.text, value);
  else if (typeof value === 'number') encodeNumber(writer, value);
  else if (typeof value === 'boolean') writer.varint(ANY_VALUE.bool, value ? 1 : 0);
  else {
    const start = writer.open(ANY_VALUE.array);
    for (const text of value) {
      const entry = writer.open(ARRAY_VALUE.value);
      writer.text(ANY_VALUE.text, text);
      writer.close(entry);
    }
    writer.close(start);
  }
}

function encodeNumber(writer: ProtobufWriter, value: number): void {
  if (!Number.isInteger(value) || Math.abs(value) >= MAX_INT64) {
    writer.double(ANY_VALUE.double, value);
  } else if (value >= 0 && value < MAX_WORD) writer.varint(ANY_VALUE.int, value);
  else writer.int64(ANY_VALUE.int, value);
}
