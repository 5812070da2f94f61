/** Ends a watch: after silence, at a deadline, or when it is no longer wanted. */
export class WatchAlarm implements Disposable {
  readonly #controller = new AbortController();
  readonly #closing: AbortSignal;
  readonly #silence: NodeJS.Timeout;
  readonly #deadline: NodeJS.Timeout;
  #wasPostponed = false;
  readonly #ring = (): void => this.#controller.abort();

  constructor(
    closing: AbortSignal,
    { inactivityMs, deadlineMs }: { readonly inactivityMs: number; readonly deadlineMs: number },
  ) {
    this.#closing = closing;
    this.#silence = setTimeout(this.#ring, inactivityMs);
    this.#deadline = setTimeout(this.#ring, deadlineMs);
    closing.addEventListener('abort', this.#ring);
    if (closing.aborted) this.#ring();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get wasPostponed(): boolean {
    return this.#wasPostponed;
  }

  /** Something was heard. */
  postpone(): void {
    this.#wasPostponed = true;
    this.#silence.refresh();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#deadline);
    this.#closing.removeEventListener('abort', this.#ring);
  }
}
