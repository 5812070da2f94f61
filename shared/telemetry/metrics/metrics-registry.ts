import { Counter } from './counter.ts';
import { Gauge } from './gauge.ts';
import { Histogram, type HistogramDefinition } from './histogram.ts';
import type { MetricDefinition, MetricFamily } from './metric-family.ts';

/** The metrics of a process. A metric without labels has a value from the start. */
export class MetricsRegistry {
  readonly #families = new Map<string, MetricFamily>();

  /** All metrics, in the order in which they were made. */
  get families(): Iterable<MetricFamily> {
    return this.#families.values();
  }

  counter<const Label extends string = never>(definition: MetricDefinition<Label>): Counter<Label> {
    return this.#add(new Counter(definition));
  }

  gauge<const Label extends string = never>(definition: MetricDefinition<Label>): Gauge<Label> {
    return this.#add(new Gauge(definition));
  }

  histogram<const Label extends string = never>(
    definition: HistogramDefinition<Label>,
  ): Histogram<Label> {
    return this.#add(new Histogram(definition));
  }

  #add<Family extends MetricFamily>(family: Family): Family {
    const { name, kind } = family;
    if (!/^gatehouse(_[a-z0-9]+)+$/.test(name)) throw new Error(`${name} is no name of a metric`);
    if (name.endsWith('_total') !== (kind === 'counter')) {
      throw new Error(`${name}: the names of counters, and of no others, end with _total`);
    }
    if (this.#families.has(name)) throw new Error(`there are two metrics ${name}`);
    this.#families.set(name, family);
    return family;
  }
}
