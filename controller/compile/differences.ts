/** Values by key. Each report returns those that changed. */
export class Differences<V> {
  readonly #mark: (value: V) => string;
  readonly #values = new Map<string, V>();
  readonly #reported = new Map<string, string>();
  readonly #touched = new Set<string>();

  /** Values with equal marks are equal. */
  constructor(mark: (value: V) => string) {
    this.#mark = mark;
  }

  /** Undefined removes the value. */
  set(key: string, value: V | undefined): void {
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    this.#touched.add(key);
  }

  /** Returns what changed since the last report; undefined stands for a removed value. */
  report(): ReadonlyMap<string, V | undefined> {
    const report = new Map<string, V | undefined>();
    for (const key of this.#touched) {
      const value = this.#values.get(key);
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
