import type { Clock } from '../../../shared/runtime/clock.ts';
import type { PushTiming } from '../push-timing.ts';
import type { PublishedContent } from './published-content.ts';

/** Options of `PositionAdvance`. */
export interface PositionAdvanceOptions {
  readonly content: PublishedContent;
  readonly timing: Pick<PushTiming, 'retryMs'>;
  readonly clock: Clock;
  /** Whether this controller still leads. */
  readonly mayWrite: () => boolean;
  readonly onAdvanced: () => void;
}

/**
 * Publishes the same content at a later position, for a proxy that has other content at this one.
 *
 * Costs one frame per proxy, so requests are batched for a delay. A publication in the meantime makes it
 * unnecessary.
 */
export class PositionAdvance implements Disposable {
  readonly #options: PositionAdvanceOptions;
  #timer: Disposable | undefined;

  constructor(options: PositionAdvanceOptions) {
    this.#options = options;
  }

  /** Requests a later position. */
  request(): void {
    const { content, clock, timing, mayWrite } = this.#options;
    if (!mayWrite()) return;
    const { sequence } = content.position;
    this.#timer ??= clock.after(timing.retryMs, () => {
      this.#timer = undefined;
      this.#advance(sequence);
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #advance(sequence: number): void {
    const { content, mayWrite, onAdvanced } = this.#options;
    if (!mayWrite() || content.position.sequence !== sequence) return;
    content.advance();
    onAdvanced();
  }
}
