/** What to keep of many rows. */
export interface RowLimits<Row> {
  readonly limit: number;
  readonly compare: (a: Row, b: Row) => number;
  /** Only rows after this one. */
  readonly after?: Row | undefined;
}

/** The first rows in an order, of any number of rows in any other, some of which come twice. */
export class FirstRows<Row> {
  readonly #limits: RowLimits<Row>;
  #rows: Row[] = [];
  #hasMore = false;

  constructor(limits: RowLimits<Row>) {
    this.#limits = limits;
  }

  add(row: Row): void {
    const { limit, compare, after } = this.#limits;
    if (after !== undefined && compare(row, after) <= 0) return;
    this.#rows.push(row);
    // Sorting once for many keeps memory bounded at little cost.
    if (this.#rows.length > 2 * limit) this.#cut();
  }

  /** Whether there are rows behind the first ones. */
  get hasMore(): boolean {
    this.#cut();
    return this.#hasMore;
  }

  get rows(): readonly Row[] {
    this.#cut();
    return this.#rows;
  }

  #cut(): void {
    const { limit, compare } = this.#limits;
    const sorted = this.#rows.sort(compare);
    const once = sorted.filter((row, index) => {
      const before = sorted[index - 1];
      return before === undefined || compare(before, row) !== 0;
    });
    this.#hasMore ||= once.length > limit;
    this.#rows = once.slice(0, limit);
  }
}
