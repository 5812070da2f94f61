import type { Clock } from '../../../shared/runtime/clock.ts';
import type { PublishedContent } from './published-content.ts';

export interface PositionAdvanceOptions {
  readonly content: PublishedContent;
  readonly clock: Clock;
  readonly delayMs: number;
  readonly mayAdvance: () => boolean;
  readonly onAdvanced: () => void;
}

/**
 * Publishes the same content at a later position, for a proxy that has other content at this one.
 *
 * Costs one frame per proxy, so requests are batched for a delay; anything else that is published
 * meanwhile makes it unnecessary.
 */
export class PositionAdvance implements Disposable {
  readonly #options: PositionAdvanceOptions;
  #timer: Disposable | undefined;

  constructor(options: PositionAdvanceOptions) {
    this.#options = options;
  }

  request(): void {
    const { content, clock, delayMs, mayAdvance } = this.#options;
    if (!mayAdvance()) return;
    const { sequence } = content.position;
    this.#timer ??= clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#advance(sequence);
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #advance(sequence: number): void {
    const { content, mayAdvance, onAdvanced } = this.#options;
    if (!mayAdvance() || content.position.sequence !== sequence) return;
    content.advance();
    onAdvanced();
  }
}
