/** The most resources that are assessed in one turn of the event loop. */
const SLICE = 200;

/** Assesses resources in later turns of the event loop, each once however often it was added. */
export class AssessmentQueue {
  readonly #assess: (key: string) => void;
  readonly #keys = new Set<string>();
  #isScheduled = false;

  constructor(assess: (key: string) => void) {
    this.#assess = assess;
  }

  /** Queues a resource. */
  add(key: string): void {
    this.#keys.add(key);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#assessSlice());
  }

  clear(): void {
    this.#keys.clear();
  }

  #assessSlice(): void {
    let count = 0;
    for (const key of this.#keys) {
      if (count === SLICE) break;
      this.#keys.delete(key);
      this.#assess(key);
      count += 1;
    }
    this.#isScheduled = this.#keys.size > 0;
    if (this.#isScheduled) setImmediate(() => this.#assessSlice());
  }
}
