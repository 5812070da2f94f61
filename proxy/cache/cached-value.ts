/** Options of a `CachedValue`. */
export interface CachedValueOptions {
  readonly now: () => number;
  /** How long a value is used before it is loaded again, in milliseconds. */
  readonly lifetime: number;
  /** How long a failure is remembered before the next attempt, in milliseconds. */
  readonly failureLifetime: number;
}

/**
 * A value that is loaded when it is first needed and again when it is old. Concurrent callers share one
 * load; if a later load fails, the last good value is used.
 */
export class CachedValue<Value> {
  readonly #load: () => Promise<Value>;
  readonly #options: CachedValueOptions;
  #current: Promise<Value> | undefined;
  #validUntil = 0;
  #lastGood: { readonly value: Value } | undefined;

  constructor(load: () => Promise<Value>, options: CachedValueOptions) {
    this.#load = load;
    this.#options = options;
  }

  get(): Promise<Value> {
    if (this.#current === undefined || this.#validUntil <= this.#options.now()) {
      this.#validUntil = Infinity;
      this.#current = this.#refresh();
    }
    return this.#current;
  }

  async #refresh(): Promise<Value> {
    const { now, lifetime, failureLifetime } = this.#options;
    try {
      const value = await this.#load();
      this.#lastGood = { value };
      this.#validUntil = now() + lifetime;
      return value;
    } catch (error) {
      this.#validUntil = now() + failureLifetime;
      if (this.#lastGood === undefined) throw error;
      return this.#lastGood.value;
    }
  }
}
