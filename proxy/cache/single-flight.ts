/** Lets concurrent callers share one piece of work by key. Nothing is kept once it has ended. */
export class SingleFlight<Value> {
  readonly #underWay = new Map<string, Promise<Value>>();

  /** Returns whether work is under way for a key. */
  has(key: string): boolean {
    return this.#underWay.has(key);
  }

  /** Does the work, unless it is under way already. */
  run(key: string, work: () => Promise<Value>): Promise<Value> {
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const begun = work().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, begun);
    return begun;
  }
}
