/** A table this much smaller than before is not believed at once. */
const SUSPICIOUS_PART = 0.1;

/** What to do with a configuration. */
export type Judgement =
  | { readonly kind: 'publish' }
  /** Not before `waitMs` have passed, and only if it is still so then. */
  | { readonly kind: 'hold'; readonly waitMs: number; readonly before: number };

/**
 * Holds back a configuration that lost nearly all of its routes at once: a definition that was
 * deleted and made again, or a namespace deleted by mistake, empties the table without a word.
 *
 * It is believed once it has stayed so for the delay.
 */
export class DeletionGuard {
  readonly #delayMs: number;
  #heldSince: number | undefined;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** `before` are the routes that serve, `after` those to be published; `now` is monotonic. */
  judge({
    before,
    after,
    now,
  }: {
    readonly before: number;
    readonly after: number;
    readonly now: number;
  }): Judgement {
    if (before === 0 || after > before * SUSPICIOUS_PART) {
      this.#heldSince = undefined;
      return { kind: 'publish' };
    }
    this.#heldSince ??= now;
    const waitMs = this.#heldSince + this.#delayMs - now;
    if (waitMs > 0) return { kind: 'hold', waitMs, before };
    this.#heldSince = undefined;
    return { kind: 'publish' };
  }
}
