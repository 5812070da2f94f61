import type { Clock } from '../../../shared/runtime/clock.ts';
import type { AckFrame, NackFrame } from '../../../shared/snapshot/push-frames.ts';
import type { Span } from '../../../shared/telemetry/tracing/trace.ts';
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
  /** The span of the delivery, which ends with the offer. */
  readonly span: Span | undefined;
  #isSlow = false;
  readonly #slowTimer: Disposable;

  constructor(
    { position, sent }: Offered,
    {
      clock,
      slowMs,
      onSlow,
      span,
    }: {
      readonly clock: Clock;
      readonly slowMs: number;
      readonly onSlow: () => void;
      readonly span: Span | undefined;
    },
  ) {
    this.position = position;
    this.sent = sent;
    this.span = span;
    this.#slowTimer = clock.after(slowMs, () => {
      this.#isSlow = true;
      onSlow();
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
    this.span?.end();
    this.#slowTimer[Symbol.dispose]();
  }
}
