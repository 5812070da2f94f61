import type { Clock } from '../../shared/runtime/clock.ts';

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

interface Waiting {
  readonly at: number;
  readonly timer: Disposable;
}

/** Delays each write until its requested time, or longer after failures. */
export class WriteDelays implements Disposable {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #waiting = new Map<string, Waiting>();
  readonly #backoffs = new Map<string, { readonly until: number; readonly ms: number }>();

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** The number of writes that are not due yet. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Makes a write due within this time. An earlier due time is kept. */
  request(key: string, withinMs: number): void {
    const now = this.#clock.now();
    const at = Math.max(now + withinMs, this.#backoffs.get(key)?.until ?? 0);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined && waiting.at <= at) return;
    waiting?.timer[Symbol.dispose]();
    this.#waiting.delete(key);
    if (at <= now) {
      this.#onDue(key);
      return;
    }
    const timer = this.#clock.after(at - now, () => {
      this.#waiting.delete(key);
      this.#onDue(key);
    });
    this.#waiting.set(key, { at, timer });
  }

  /** Requests a write again after a failure: after this time, or else twice the last delay. */
  retry(key: string, afterMs: number | undefined): void {
    const before = this.#backoffs.get(key);
    const ms = before === undefined ? FIRST_BACKOFF_MS : Math.min(before.ms * 2, MAX_BACKOFF_MS);
    const waitMs = afterMs ?? ms;
    this.#backoffs.set(key, { until: this.#clock.now() + waitMs, ms });
    this.request(key, waitMs);
  }

  /** Requests a write again after the longest time. */
  retryLate(key: string): void {
    this.retry(key, MAX_BACKOFF_MS);
  }

  /** Forgets the failures of a write. */
  resetBackoff(key: string): void {
    this.#backoffs.delete(key);
  }

  /** Cancels every write that is not due. */
  [Symbol.dispose](): void {
    for (const { timer } of this.#waiting.values()) timer[Symbol.dispose]();
    this.#waiting.clear();
  }
}
