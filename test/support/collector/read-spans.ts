import type { DecodedMessage } from './decoded-message.ts';
import { readAttributes } from './read-attributes.ts';
import { fieldsAt, type FieldsAt } from './fields-at.ts';
import type { ReceivedSpan, ReceivedSpanKind } from './received-span.ts';
import { ViolationError } from './violation-error.ts';

/** By their numbers; a kind that is not specified (0) says that the exporter forgot it. */
const KINDS: readonly (ReceivedSpanKind | undefined)[] = [
  undefined,
  'internal',
  'server',
  'client',
  'producer',
  'consumer',
];
const STATUS_CODES = ['unset', 'ok', 'error'] as const;

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** SpanFlags: the trace flags, and whether the parent is in another process. */
const KNOWN_FLAGS = 0x3_ff;

/** W3C Trace Context, section 3.3.1: a list of at most 32 members. */
const TRACE_STATE =
  /^[a-z0-9][\w\-*/@]*=[ -+\--<>-~]+(?:,[ \t]*[a-z0-9][\w\-*/@]*=[ -+\--<>-~]+){0,31}$/;

/**
 * Reads the spans of a request. Throws a `ViolationError` for what the comments of the definitions do not
 * allow: ids of another length or all zero, no name, no kind, an end before the start, a status that says
 * why without being an error, attributes without key, without value, or twice, and spans that are there twice.
 */
export function readSpans(request: DecodedMessage): ReceivedSpan[] {
  const spans = fieldsAt(request, 'request').messages('resourceSpans').flatMap(readProcess);
  if (spans.length === 0) throw new ViolationError('request', 'no spans');
  const ids = new Set<string>();
  for (const { traceId, spanId } of spans) {
    if (ids.has(traceId + spanId)) throw new ViolationError('request', `span ${spanId} twice`);
    ids.add(traceId + spanId);
  }
  return spans;
}

/** Reads the spans of a process. */
function readProcess(fields: FieldsAt): ReceivedSpan[] {
  const resource = readAttributes(fields.message('resource'));
  return fields.messages('scopeSpans').flatMap((scopeSpans) => {
    const scope = scopeSpans.message('scope').text('name') ?? '';
    return scopeSpans.messages('spans').map((span) => ({ ...readSpan(span), resource, scope }));
  });
}

function readSpan(fields: FieldsAt): Omit<ReceivedSpan, 'resource' | 'scope'> {
  const { path } = fields;
  const parentSpanId = readId(fields, 'parentSpanId', SPAN_ID_BYTES, true);
  const name = fields.text('name') ?? '';
  if (name === '') throw new ViolationError(path, 'no name');
  const kind = KINDS[fields.number('kind') ?? 0];
  if (kind === undefined) throw new ViolationError(path, 'no kind');
  const start = fields.bigint('startTimeUnixNano') ?? 0n;
  const end = fields.bigint('endTimeUnixNano') ?? 0n;
  if (start === 0n) throw new ViolationError(path, 'no start');
  if (end < start) throw new ViolationError(path, 'ends before it starts');
  if (((fields.number('flags') ?? 0) & ~KNOWN_FLAGS) !== 0) {
    throw new ViolationError(path, 'unknown flags');
  }
  return {
    ...readIds(fields),
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...readTraceState(fields),
    name,
    kind,
    start,
    end,
    attributes: readAttributes(fields),
    events: fields.messages('events').map((event) => readEvent(event)),
    links: fields.messages('links').map((link) => ({
      ...readIds(link),
      ...readTraceState(link),
      attributes: readAttributes(link),
    })),
    status: readStatus(fields.message('status')),
  };
}

function readEvent(fields: FieldsAt): ReceivedSpan['events'][number] {
  const name = fields.text('name') ?? '';
  if (name === '') throw new ViolationError(fields.path, 'no name');
  const time = fields.bigint('timeUnixNano') ?? 0n;
  if (time === 0n) throw new ViolationError(fields.path, 'no time');
  return { name, time, attributes: readAttributes(fields) };
}

function readStatus(fields: FieldsAt): ReceivedSpan['status'] {
  const code = STATUS_CODES[fields.number('code') ?? 0];
  if (code === undefined) throw new ViolationError(fields.path, 'unknown code');
  const message = fields.text('message');
  if (code !== 'error' && message !== undefined && message !== '') {
    throw new ViolationError(fields.path, 'a message without an error');
  }
  return { code, ...(message !== undefined && message !== '' && { message }) };
}

function readIds(fields: FieldsAt): { traceId: string; spanId: string } {
  const traceId = readId(fields, 'traceId', TRACE_ID_BYTES);
  const spanId = readId(fields, 'spanId', SPAN_ID_BYTES);
  return { traceId, spanId };
}

function readId(fields: FieldsAt, name: string, bytes: number): string;
function readId(fields: FieldsAt, name: string, bytes: number, mayMiss: true): string | undefined;
function readId(
  fields: FieldsAt,
  name: string,
  bytes: number,
  mayMiss = false,
): string | undefined {
  const id = fields.bytes(name);
  if (mayMiss && (id === undefined || id.length === 0)) return undefined;
  if (id?.length !== bytes) {
    throw new ViolationError(`${fields.path}.${name}`, `not ${String(bytes)} bytes`);
  }
  if (id.every((byte) => byte === 0)) {
    throw new ViolationError(`${fields.path}.${name}`, 'only zeros');
  }
  return id.toString('hex');
}

function readTraceState(fields: FieldsAt): { traceState?: string } {
  const traceState = fields.text('traceState') ?? '';
  if (traceState === '') return {};
  if (!TRACE_STATE.test(traceState)) {
    throw new ViolationError(`${fields.path}.traceState`, 'not a tracestate');
  }
  return { traceState };
}
