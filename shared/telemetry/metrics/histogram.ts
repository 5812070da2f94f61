import { LabelledCells } from './labelled-cells.ts';
import type { LabelValues, MetricDefinition, MetricFamily, Sample } from './metric-family.ts';

/** Definition of a histogram. */
export interface HistogramDefinition<Label extends string = never> extends MetricDefinition<Label> {
  /** Upper bounds of the buckets, ascending; the last bucket has none. */
  readonly buckets: readonly number[];
}

/** The observations of one combination of labels. */
export class HistogramCell {
  readonly #bounds: readonly number[];
  /** One for each bound, and one for what is above all bounds. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** Counts a value, in the unit of the metric. */
  observe(value: number): void {
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] ?? Infinity)) index += 1;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sum += value;
  }
}

/** Counts values by their size. Whoever observes often keeps the cell. */
export class Histogram<Label extends string = never> implements MetricFamily {
  readonly kind = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  readonly #bounds: readonly { readonly le: string }[];
  readonly #cells: LabelledCells<Label, HistogramCell>;

  constructor({ name, help, labels = [], buckets }: HistogramDefinition<Label>) {
    this.name = name;
    this.help = help;
    this.labels = labels;
    this.#bounds = [...buckets.map((bound) => ({ le: String(bound) })), { le: '+Inf' }];
    this.#cells = new LabelledCells(labels, () => new HistogramCell(buckets));
  }

  /** Returns the cell of these labels, and begins an empty one if there is none. */
  cell(labels: LabelValues<Label>): HistogramCell {
    return this.#cells.get(labels);
  }

  observe(labels: LabelValues<Label>, value: number): void {
    this.cell(labels).observe(value);
  }

  /** Forgets the cell of these labels. Whoever keeps it counts for nobody from now on. */
  delete(labels: LabelValues<Label>): void {
    this.#cells.delete(labels);
  }

  *samples(): Iterable<Sample> {
    for (const { labels, cell } of this.#cells.values()) yield* this.#samplesOf(labels, cell);
  }

  /** All samples of a cell are made at once, so that its count is that of its last bucket. */
  #samplesOf(sharedLabels: LabelValues<Label>, { counts, sum }: HistogramCell): readonly Sample[] {
    let count = 0;
    const buckets = this.#bounds.map((labels, index): Sample => {
      count += counts[index] ?? 0;
      return { metricName: `${this.name}_bucket`, labels, sharedLabels, value: count };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels: {}, sharedLabels, value: sum },
      { metricName: `${this.name}_count`, labels: {}, sharedLabels, value: count },
    ];
  }
}
