import fc from 'fast-check';

import type { AttributeList, EndedSpan } from '../../../shared/telemetry/tracing/ended-span.ts';
import { SpanId, TraceId } from '../../../shared/telemetry/tracing/ids.ts';
import type { TraceContext } from '../../../shared/telemetry/tracing/trace-context.ts';

const text = fc.string({ unit: 'binary', maxLength: 300 });
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });

const value = fc.oneof(
  text,
  fc.constantFrom('POST', '/mcp', 'tools/call'),
  fc.nat(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.array(text, { maxLength: 3 }),
);

const attributes: fc.Arbitrary<AttributeList> = fc
  .uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 12 })
  .map((pairs) => ({ names: pairs.map(([key]) => key), values: pairs.map(([, each]) => each) }));

function hexadecimal(length: number): fc.Arbitrary<string> {
  const digit = fc.integer({ min: 0, max: 15 }).map((value) => value.toString(16));
  return fc
    .array(digit, { minLength: length - 1, maxLength: length - 1 })
    .map((digits) => `${digits.join('')}1`);
}

const spanId = hexadecimal(16).map((text) => SpanId.parse(text));
const traceId = hexadecimal(32).map((text) => TraceId.parse(text));

const traceState = fc.option(fc.constantFrom('a=b', 'rojo=1,congo=2'), { nil: undefined });

const link: fc.Arbitrary<TraceContext> = fc
  .record({ trace: traceId, span: spanId, isSampled: fc.boolean(), state: traceState })
  .map(({ trace, span, isSampled, state }) => ({
    ...{ traceId: trace.text, spanId: span.text, isSampled },
    ...(state !== undefined && { traceState: state }),
  }));

const time = fc.double({ min: 0, max: 1e9, noNaN: true });
const event = fc.record({ name, at: time, attributes });

/** Any span that can end. */
export const arbitrarySpan: fc.Arbitrary<EndedSpan> = fc
  .record({
    trace: traceId,
    id: spanId,
    parent: fc.option(spanId, { nil: undefined }),
    isParentRemote: fc.boolean(),
    traceState,
    name: fc.oneof(name, fc.constantFrom('authenticate', 'tools/call')),
    kind: fc.constantFrom('internal', 'server', 'client'),
    startedAt: time,
    endedAt: time,
    attributes,
    droppedAttributes: fc.nat(),
    events: fc.array(event, { maxLength: 3 }),
    droppedEvents: fc.nat(),
    links: fc.array(link, { maxLength: 3 }),
    droppedLinks: fc.nat(),
    error: fc.option(text, { nil: undefined }),
  })
  .map((span) => ({ ...span, isParentRemote: span.isParentRemote && span.parent !== undefined }));
