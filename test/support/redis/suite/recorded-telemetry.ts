import type { GatewayOptions } from '../../../../proxy/create-stages.ts';
import type { AttributeList, EndedSpan } from '../../../../shared/telemetry/tracing/ended-span.ts';
import type { MetricsRegistry } from '../../../../shared/telemetry/metrics/metrics-registry.ts';
import { Tracer } from '../../../../shared/telemetry/tracing/tracer.ts';
import { scrapeText } from '../../metrics/scrape.ts';
import { tracingSettings } from '../../tracing/recorded-spans.ts';
import { suiteRecord, type RecordedSpan } from './suite-record.ts';

/** Tracing of a gateway that samples every trace and records all spans; undefined but in a run on Redis. */
export function recordedTracing(): GatewayOptions['tracing'] {
  if (suiteRecord === undefined) return undefined;
  const record = suiteRecord;
  const tracer = new Tracer({
    exported: 0,
    dropped: 0,
    add: (span) => record.addSpan(recorded(span)),
    apply: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  // Nothing is cut off that could be found.
  tracer.apply(tracingSettings({ attributeValueLengthLimit: 10_000 }));
  return { tracer, apply: () => undefined };
}

/** Records the metrics of a gateway, in a run on Redis. */
export async function recordMetrics(registry: MetricsRegistry): Promise<void> {
  if (suiteRecord !== undefined) suiteRecord.addMetrics(await scrapeText(registry));
}

function recorded({ name, attributes, events, links, traceState, error }: EndedSpan): RecordedSpan {
  const all = [...pairsOf(attributes), ...events.flatMap((event) => pairsOf(event.attributes))];
  return {
    name,
    attributes: { ...Object.fromEntries(all), states: [traceState, ...links] },
    error,
  };
}

function pairsOf({ names, values }: AttributeList): readonly (readonly [string, unknown])[] {
  return names.map((name, index) => [name, values[index]] as const);
}
