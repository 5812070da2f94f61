import type { Clock } from './clock.ts';

/** Options of `PacedChanges`. */
export interface PacedChangesOptions<Value> {
  readonly clock: Clock;
  /** The shortest time between two changes under one key. */
  readonly intervalMs: number;
  readonly isSame: (one: Value, other: Value) => boolean;
  /** Called for every change that is shown, the first value under a key included. */
  readonly onChange: (key: string, value: Value) => void;
}

interface Entry<Value> {
  shown: Value;
  changedAt: number;
  /** A newer value that differs, and waits for its time. */
  pending: { value: Value; readonly timer: Disposable } | undefined;
}

/** The newest values by key, each shown with a pause between changes. What changes back meanwhile is not shown. */
export class PacedChanges<Value> implements Disposable {
  readonly #options: PacedChangesOptions<Value>;
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(options: PacedChangesOptions<Value>) {
    this.#options = options;
  }

  /** The value that is shown under a key. */
  get(key: string): Value | undefined {
    return this.#entries.get(key)?.shown;
  }

  /** Replaces the value under a key: at once, or when its time comes. */
  set(key: string, value: Value): void {
    const { clock, intervalMs, isSame } = this.#options;
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, { shown: value, changedAt: clock.now(), pending: undefined });
      this.#options.onChange(key, value);
    } else if (isSame(entry.shown, value)) {
      cancel(entry);
      entry.shown = value;
    } else if (entry.pending !== undefined) {
      entry.pending.value = value;
    } else {
      const waitMs = entry.changedAt + intervalMs - clock.now();
      if (waitMs <= 0) this.#show(key, entry, value);
      else entry.pending = { value, timer: clock.after(waitMs, () => this.#showPending(key)) };
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) cancel(entry);
    this.#entries.delete(key);
  }

  /** Stops all timers. */
  [Symbol.dispose](): void {
    for (const entry of this.#entries.values()) cancel(entry);
  }

  #showPending(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.pending !== undefined) this.#show(key, entry, entry.pending.value);
  }

  #show(key: string, entry: Entry<Value>, value: Value): void {
    entry.pending = undefined;
    entry.shown = value;
    entry.changedAt = this.#options.clock.now();
    this.#options.onChange(key, value);
  }
}

function cancel(entry: Entry<unknown>): void {
  entry.pending?.timer[Symbol.dispose]();
  entry.pending = undefined;
}
