import type { LabelValues } from './metric-family.ts';

/** A metric with cells of its labels: a counter, a gauge or a histogram. */
interface CellFamily<Label extends string, Cell> {
  cell(labels: LabelValues<Label>): Cell;
  delete(labels: LabelValues<Label>): void;
}

/** Cells of several metrics that are forgotten together. */
export class CellGroup {
  #forget: (() => void)[] = [];

  /** Returns the cell of these labels. Whoever counts often keeps it. */
  cell<Label extends string, Cell>(
    family: CellFamily<Label, Cell>,
    labels: LabelValues<Label>,
  ): Cell {
    this.#forget.push(() => family.delete(labels));
    return family.cell(labels);
  }

  /** Forgets all cells of the group. */
  clear(): void {
    for (const forget of this.#forget) forget();
    this.#forget = [];
  }
}
