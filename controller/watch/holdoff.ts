/** Long enough for what one command applies, or one list brings, to come in together. */
const QUIET_MS = 10;

/** Of one change until it is handed over, however many follow it. */
const LONGEST_MS = 100;

/**
 * Gathers calls into one, made once it is quiet, and never two of them at a time.
 *
 * What is called may not reject. Disposing waits for the call under way.
 */
export class Holdoff implements AsyncDisposable {
  readonly #call: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #firstAt: number | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(call: () => Promise<void>) {
    this.#call = call;
  }

  /** Asks for a call. */
  touch(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    this.#firstAt ??= now;
    if (this.#running !== undefined) return;
    clearTimeout(this.#timer);
    const waitMs = Math.max(0, Math.min(QUIET_MS, this.#firstAt + LONGEST_MS - now));
    this.#timer = setTimeout(() => this.#run(), waitMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #run(): void {
    this.#firstAt = undefined;
    this.#running = this.#call().finally(() => {
      this.#running = undefined;
      if (this.#firstAt !== undefined) this.touch();
    });
  }
}
