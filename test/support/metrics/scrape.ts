import { formatMetrics } from '../../../shared/telemetry/metrics/format-metrics.ts';
import type { MetricsFormat } from '../../../shared/telemetry/metrics/metrics-format.ts';
import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import { promtoolFaults } from './promtool.ts';
import { parseMetrics, type ScrapedMetric, type ScrapedSample } from './parse-metrics.ts';

/** Returns the text of all metrics. */
export async function scrapeText(
  registry: Pick<MetricsRegistry, 'families'>,
  format: MetricsFormat = 'prometheus',
): Promise<string> {
  let text = '';
  for await (const piece of formatMetrics(registry.families, format)) text += piece;
  return text;
}

type Labels = Readonly<Record<string, string>>;

/** All metrics at one moment, as Prometheus reads them. */
export interface Scrape {
  readonly text: string;
  readonly metrics: ReadonlyMap<string, ScrapedMetric>;
  /** Returns the samples of a metric that have these labels, and maybe more. */
  readonly samples: (name: string, labels?: Labels) => readonly ScrapedSample[];
  /** Returns the sum of these samples; of a histogram, the number of observations. */
  readonly value: (name: string, labels?: Labels) => number;
}

/** Reads all metrics. */
export async function scrape(registry: Pick<MetricsRegistry, 'families'>): Promise<Scrape> {
  return scrapeOf(await scrapeText(registry));
}

/** Reads the metrics of a process with this admin address. Throws if promtool objects to them. */
export async function scrapeProcess(address: unknown): Promise<Scrape> {
  const response = await fetch(`http://${String(address)}/metrics`);
  if (response.status !== 200) throw new Error(`the status is ${String(response.status)}`);
  const text = await response.text();
  const faults = promtoolFaults(text);
  if (faults !== '') throw new Error(faults);
  return scrapeOf(text);
}

function scrapeOf(text: string): Scrape {
  const metrics = parseMetrics(text);
  const samples: Scrape['samples'] = (name, labels = {}) =>
    (metrics.get(name)?.samples ?? []).filter((sample) =>
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  return {
    text,
    metrics,
    samples,
    value: (name, labels) =>
      samples(name, labels)
        .filter((sample) => sample.name === name || sample.name === `${name}_count`)
        .reduce((sum, { value }) => sum + value, 0),
  };
}
