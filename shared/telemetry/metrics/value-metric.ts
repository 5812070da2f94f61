import { LabelledCells } from './labelled-cells.ts';
import type { LabelValues, MetricDefinition, Sample } from './metric-family.ts';

/** A value that something else keeps. */
export interface MetricReading<Label extends string = string> {
  readonly labels: LabelValues<Label>;
  readonly value: number;
}

/** Reads values that something else keeps; a number for a metric without labels, undefined for no value. */
export type ReadValues<Label extends string> = () =>
  Iterable<MetricReading<Label>> | number | undefined;

/** A number that whoever changes it often keeps. */
export class ValueCell {
  value = 0;
}

/** A metric of numbers: what counters and gauges have in common. */
export abstract class ValueMetric<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  readonly #cells: LabelledCells<Label, ValueCell>;
  #read: ReadValues<Label> | undefined;

  constructor({ name, help, labels = [] }: MetricDefinition<Label>) {
    this.name = name;
    this.help = help;
    this.labels = labels;
    this.#cells = new LabelledCells(labels, () => new ValueCell());
  }

  /** Returns the cell of these labels, and begins it with 0 if there is none. */
  cell(labels: LabelValues<Label>): ValueCell {
    return this.#cells.get(labels);
  }

  /** Forgets the cell of these labels: changes to it are in no metric from now on. */
  delete(labels: LabelValues<Label>): void {
    this.#cells.delete(labels);
  }

  /** From now on the values are those that `read` returns when metrics are read. */
  readFrom(read: ReadValues<Label>): void {
    this.#read = read;
  }

  *samples(): Iterable<Sample> {
    if (this.#read !== undefined) {
      yield* readingsOf(this.#read());
      return;
    }
    for (const { labels, cell } of this.#cells.values()) {
      yield { labels: {}, sharedLabels: labels, value: cell.value };
    }
  }
}

function readingsOf(values: ReturnType<ReadValues<string>>): Iterable<Sample> {
  if (values === undefined) return [];
  return typeof values === 'number' ? [{ labels: {}, value: values }] : values;
}
