import type { Clock } from '../../../shared/runtime/clock.ts';
import type { AckFrame, NackFrame } from '../../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { SentSnapshot } from '../content/overlay.ts';

/** A snapshot that is sent to a proxy. */
export interface Offered {
  readonly position: SnapshotPosition;
  readonly sent: SentSnapshot;
}

/** A snapshot on its way to a proxy, until the proxy has answered it. */
export class SnapshotOffer implements Offered, Disposable {
  readonly position: SnapshotPosition;
  readonly sent: SentSnapshot;
  /** Whether all of it is sent. */
  isSent = false;
  /** A nack that arrived before all of the snapshot was sent. */
  earlyNack: NackFrame | undefined;
  #isSlow = false;
  readonly #slowTimer: Disposable;

  constructor(
    { position, sent }: Offered,
    late: { readonly clock: Clock; readonly slowMs: number; readonly onSlow: () => void },
  ) {
    this.position = position;
    this.sent = sent;
    this.#slowTimer = late.clock.after(late.slowMs, () => {
      this.#isSlow = true;
      late.onSlow();
    });
  }

  /** Whether the proxy did not answer in time. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** Whether a frame is the first answer to this snapshot. */
  isAnsweredBy({ epoch, seq }: AckFrame | NackFrame): boolean {
    const { position } = this;
    return position.epoch === epoch && position.sequence === seq && this.earlyNack === undefined;
  }

  [Symbol.dispose](): void {
    this.#slowTimer[Symbol.dispose]();
  }
}
