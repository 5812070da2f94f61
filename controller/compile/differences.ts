/** Collects values by key, and reports those that changed since the last report. */
export class Differences<V> {
  readonly #mark: (value: V) => string;
  /** Marks of the values that were reported last. */
  readonly #reported = new Map<string, string>();
  /** Values that were set since the last report; undefined: removed. */
  readonly #touched = new Map<string, V | undefined>();

  /** Values with equal marks are equal. */
  constructor(mark: (value: V) => string) {
    this.#mark = mark;
  }

  /** Sets the value of a key; undefined removes it. */
  set(key: string, value: V | undefined): void {
    this.#touched.set(key, value);
  }

  /** Returns the values that differ from those of the last report; undefined: removed. */
  report(): ReadonlyMap<string, V | undefined> {
    const report = new Map<string, V | undefined>();
    for (const [key, value] of this.#touched) {
      const mark = value === undefined ? undefined : this.#mark(value);
      if (mark === this.#reported.get(key)) continue;
      report.set(key, value);
      if (mark === undefined) this.#reported.delete(key);
      else this.#reported.set(key, mark);
    }
    this.#touched.clear();
    return report;
  }
}
