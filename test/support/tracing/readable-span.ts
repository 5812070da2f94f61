import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';

import type { AttributeList, EndedSpan } from '../../../shared/telemetry/tracing/ended-span.ts';
import type { TraceContext } from '../../../shared/telemetry/tracing/trace-context.ts';

/** A span as OpenTelemetry's serializers want it. */
export type ReadableSpan = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };

/** Returns a span of ours as OpenTelemetry's SDK would have made it. */
export function readableSpan(span: EndedSpan, timeOrigin: number): ReadableSpan {
  const { trace, id, parent, traceState, isParentRemote } = span;
  const context = contextOf({ traceId: trace.text, spanId: id.text, isSampled: true }, traceState);
  const timeOf = (at: number): [number, number] => {
    const nanoseconds = BigInt((timeOrigin + at) * 1_000_000);
    return [Number(nanoseconds / 1_000_000_000n), Number(nanoseconds % 1_000_000_000n)];
  };
  const readable = {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context,
    parentSpanContext: parent && {
      ...contextOf({ traceId: trace.text, spanId: parent.text, isSampled: true }),
      isRemote: isParentRemote,
    },
    startTime: timeOf(span.startedAt),
    endTime: timeOf(span.endedAt),
    status:
      span.error === undefined
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: span.error },
    attributes: asObject(span.attributes),
    droppedAttributesCount: span.droppedAttributes,
    events: span.events.map(({ name, at, attributes }) => ({
      name,
      time: timeOf(at),
      attributes: asObject(attributes),
    })),
    droppedEventsCount: span.droppedEvents,
    links: span.links.map((link) => ({
      context: { ...contextOf(link, link.traceState), isRemote: true },
    })),
    droppedLinksCount: span.droppedLinks,
    duration: timeOf(0),
    ended: true,
  };
  // It is read by the serializers, which use no more than this.
  return readable as unknown as ReadableSpan;
}

function contextOf({ traceId, spanId, isSampled }: TraceContext, state?: string): object {
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const context = { traceId, spanId, traceFlags };
  return state === undefined ? context : { ...context, traceState: { serialize: () => state } };
}

function asObject({ names, values }: AttributeList): object {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}
