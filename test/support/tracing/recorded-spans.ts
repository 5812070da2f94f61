import type { EndedSpan } from '../../../shared/telemetry/tracing/recording-span.ts';
import { type SpanExporter, Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import type { TracingSettings } from '../../../shared/telemetry/tracing/tracing-settings.ts';

const SETTINGS: TracingSettings = {
  exporter: 'otlp',
  endpoint: 'http://127.0.0.1:4318/v1/traces',
  protocol: 'http/protobuf',
  headers: {},
  timeoutMs: 10_000,
  samplingRatio: 1,
  resourceAttributes: {},
  scheduleDelayMs: 5_000,
  maxExportBatchSize: 512,
  attributeValueLengthLimit: 256,
  logLevel: 'info',
  incomingContext: 'TrustedProxies',
};

/** Returns tracing settings of defaults, with a collector on this machine. */
export function tracingSettings(changes: Partial<TracingSettings> = {}): TracingSettings {
  return { ...SETTINGS, ...changes };
}

/** A tracer that is on, and keeps the spans that ended in memory. */
export interface RecordedSpans {
  readonly tracer: Tracer;
  /** In the order in which they ended. */
  readonly spans: readonly EndedSpan[];
  /** Returns the one span of a name. */
  readonly spanOf: (name: string) => EndedSpan;
  /** Returns an attribute of the one span of a name. */
  readonly attributeOf: (name: string, attribute: string) => unknown;
}

/** Creates a tracer whose spans a test can read. */
export function recordSpans(changes: Partial<TracingSettings> = {}): RecordedSpans {
  const spans: EndedSpan[] = [];
  const exporter: SpanExporter = {
    exported: 0,
    dropped: 0,
    add: (span) => void spans.push(span),
    apply: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const tracer = new Tracer(exporter);
  tracer.apply(tracingSettings(changes));
  const spanOf = (name: string): EndedSpan => {
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
    attributeOf: (name, attribute) => attributesOf(spanOf(name))[attribute],
  };
}

/** Returns the attributes of a span as an object. */
export function attributesOf({ attributes }: EndedSpan): Readonly<Record<string, unknown>> {
  const pairs: [string, unknown][] = [];
  for (let index = 0; index < attributes.length; index += 2) {
    pairs.push([String(attributes[index]), attributes[index + 1]]);
  }
  return Object.fromEntries(pairs);
}
