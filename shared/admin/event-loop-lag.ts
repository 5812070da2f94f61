const SECOND = 1_000;
const BEAT_MS = SECOND;

/** Measures the lag of this process's event loop. */
export class EventLoopLag implements Disposable {
  readonly #now: () => number;
  readonly #beat: NodeJS.Timeout;
  #lastBeat: number;
  #lagMs = 0;

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#lastBeat = now();
    this.#beat = setInterval(() => {
      const beat = this.#now();
      this.#lagMs = beat - this.#lastBeat - BEAT_MS;
      this.#lastBeat = beat;
    }, BEAT_MS).unref();
  }

  /**
   * Lag of the last beat, or of the next one if that is late. After the loop was blocked, the lag
   * is still reported for a second, because requests of that time are answered only then.
   */
  get lagMs(): number {
    return Math.max(0, this.#lagMs, this.#now() - this.#lastBeat - BEAT_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
  }
}
