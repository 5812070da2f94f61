import type { AttributeList, EndedSpan } from '../../../shared/telemetry/tracing/ended-span.ts';
import { resolveTracing } from '../../../shared/telemetry/tracing/settings/resolve-tracing.ts';
import { type SpanExporter, Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import type { TracingSettings } from '../../../shared/telemetry/tracing/tracing-settings.ts';

const ENDPOINT = { url: 'http://127.0.0.1:4318', isComplete: false };

/** Returns the default settings of tracing, with a collector on this machine and these changes. */
export function tracingSettings(changes: Partial<TracingSettings> = {}): TracingSettings {
  const settings = resolveTracing({ exporter: 'otlp', endpoint: ENDPOINT }, {});
  if (settings === undefined) throw new Error('tracing is off');
  return { ...settings, ...changes };
}

type RecordedAttributes = Readonly<Record<string, unknown>>;

/** A span that has ended, as a test reads it. */
export interface RecordedSpan extends Pick<
  EndedSpan,
  'name' | 'kind' | 'startedAt' | 'endedAt' | 'links' | 'error'
> {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly attributes: RecordedAttributes;
  readonly events: readonly { readonly name: string; readonly attributes: RecordedAttributes }[];
  /** Attributes, events and links that it had no room for. */
  readonly dropped: readonly [number, number, number];
}

/** A tracer that is on, and keeps the spans that ended in memory. */
export interface RecordedSpans {
  readonly tracer: Tracer;
  /** In the order in which they ended. Spans of a request are here once the request has ended. */
  readonly spans: readonly RecordedSpan[];
  /** Returns the one span of a name. */
  readonly spanOf: (name: string) => RecordedSpan;
  /** Returns an attribute of the one span of a name. */
  readonly attributeOf: (name: string, attribute: string) => unknown;
}

/** Creates a tracer whose spans a test can read. */
export function recordSpans(changes: Partial<TracingSettings> = {}): RecordedSpans {
  const spans: RecordedSpan[] = [];
  const exporter: SpanExporter = {
    exported: 0,
    dropped: 0,
    add: (span) => void spans.push(recordedSpan(span)),
    apply: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const tracer = new Tracer(exporter);
  tracer.apply(tracingSettings(changes));
  const spanOf = (name: string): RecordedSpan => {
    const [span, ...others] = spans.filter((each) => each.name === name);
    if (span === undefined || others.length > 0) {
      const names = spans.map((each) => each.name).join(', ');
      throw new Error(`not one span "${name}" among: ${names}`);
    }
    return span;
  };
  return {
    tracer,
    spans,
    spanOf,
    attributeOf: (name, attribute) => spanOf(name).attributes[attribute],
  };
}

function recordedSpan(span: EndedSpan): RecordedSpan {
  const { name, kind, startedAt, endedAt, links, error, traceState } = span;
  return {
    ...{ name, kind, startedAt, endedAt, links, error, traceState },
    traceId: span.trace.text,
    spanId: span.id.text,
    parentSpanId: span.parent?.text,
    attributes: asObject(span.attributes),
    events: span.events.map((event) => ({
      name: event.name,
      attributes: asObject(event.attributes),
    })),
    dropped: [span.droppedAttributes, span.droppedEvents, span.droppedLinks],
  };
}

function asObject({ names, values }: AttributeList): RecordedAttributes {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}
