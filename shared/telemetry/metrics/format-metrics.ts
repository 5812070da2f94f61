import type { Metric, Registry, RegistryContentType } from 'prom-client';

import { TimeSlices } from '../../runtime/time-slices.ts';
import type { MetricFamily, MetricKind, Sample } from './metric-family.ts';
import { METRICS_CONTENT_TYPES, type MetricsFormat } from './metrics-format.ts';

/** Formatting so many samples takes a fraction of a time slice. */
const CHUNK_SAMPLES = 256;

/** The lines `# HELP` and `# TYPE`. */
const HEAD_LINES = 2;

/**
 * Formats metrics, in pieces that end with a whole line. Other work runs between them, so that the metrics
 * of 10,000 routes delay no request.
 */
export async function* formatMetrics(
  families: Iterable<MetricFamily>,
  format: MetricsFormat,
): AsyncGenerator<string, void> {
  // Loaded by the first reader: loading it takes 35 ms of CPU, and a start has none to spare.
  const { Registry: PromRegistry } = await import('prom-client');
  const registry = new PromRegistry<RegistryContentType>();
  registry.setContentType(METRICS_CONTENT_TYPES[format]);
  const slices = new TimeSlices();
  for (const family of families) {
    let isFirst = true;
    for (const samples of chunksOf(family.samples())) {
      const text = await formatChunk(named(family, format), samples, registry);
      yield isFirst ? text : withoutHead(text);
      isFirst = false;
      await slices.pause();
    }
  }
  if (format === 'openmetrics') yield '# EOF\n';
}

/** Head of a metric, as prom-client reads it. */
interface Head {
  readonly name: string;
  readonly help: string;
  readonly type: MetricKind;
}

/** OpenMetrics names counters without their ending, and prom-client adds it to their samples. */
function named({ kind, name, help }: MetricFamily, format: MetricsFormat): Head {
  const isShort = format === 'openmetrics' && kind === 'counter';
  return { name: isShort ? name.replace(/_total$/, '') : name, help, type: kind };
}

function* chunksOf(samples: Iterable<Sample>): Iterable<readonly Sample[]> {
  let chunk: Sample[] = [];
  for (const sample of samples) {
    chunk.push(sample);
    if (chunk.length < CHUNK_SAMPLES) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

async function formatChunk(
  head: Head,
  values: readonly Sample[],
  registry: Registry<RegistryContentType>,
): Promise<string> {
  // A registry reads nothing else of a metric, and its own metrics cannot be divided.
  const metric = { name: head.name, get: () => Promise.resolve({ ...head, values }) };
  registry.registerMetric(metric as unknown as Metric);
  const text = await registry.getSingleMetricAsString(head.name);
  registry.removeSingleMetric(head.name);
  return `${text}\n`;
}

function withoutHead(text: string): string {
  return text.split('\n').slice(HEAD_LINES).join('\n');
}
