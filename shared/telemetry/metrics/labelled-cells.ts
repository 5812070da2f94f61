import type { LabelValues } from './metric-family.ts';

/** A cell, and the labels that it has. */
export interface LabelledCell<Label extends string, Cell> {
  readonly labels: LabelValues<Label>;
  readonly cell: Cell;
}

/** The cells of a metric, one for each combination of values of its labels that was used. */
export class LabelledCells<Label extends string, Cell> {
  readonly #names: readonly Label[];
  readonly #make: () => Cell;
  readonly #cells = new Map<string, LabelledCell<Label, Cell>>();

  constructor(names: readonly Label[], make: () => Cell) {
    this.#names = names;
    this.#make = make;
    // A metric without labels has a value from the start. No names, so the record is whole.
    if (names.length === 0) this.get({} as LabelValues<Label>);
  }

  /** Returns the cell of these labels, and makes it if there is none. */
  get(labels: LabelValues<Label>): Cell {
    const key = this.#keyOf(labels);
    const known = this.#cells.get(key);
    if (known !== undefined) return known.cell;
    const cell = this.#make();
    this.#cells.set(key, { labels, cell });
    return cell;
  }

  /** Forgets the cell of these labels. */
  delete(labels: LabelValues<Label>): void {
    this.#cells.delete(this.#keyOf(labels));
  }

  values(): Iterable<LabelledCell<Label, Cell>> {
    return this.#cells.values();
  }

  #keyOf(labels: LabelValues<Label>): string {
    return JSON.stringify(this.#names.map((name) => labels[name]));
  }
}
