const SECOND = 1_000;
const BEAT_MS = SECOND;

/** Knows by how much the event loop of this process is late. */
export class EventLoopLag implements Disposable {
  readonly #now: () => number;
  readonly #beat: NodeJS.Timeout;
  #lastBeat: number;
  #lagMs = 0;

  /** `now` in milliseconds, from any start. */
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
   * How late the last beat was, or the next one is. A loop that stood still tells of it for a
   * second once it runs again: those who ask in the meantime are answered only then.
   */
  get lagMs(): number {
    return Math.max(0, this.#lagMs, this.#now() - this.#lastBeat - BEAT_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
  }
}
