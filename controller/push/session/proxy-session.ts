import type { ServerHttp2Stream } from 'node:http2';

import {
  REPLACED,
  type AckFrame,
  type RejectedEntry,
  type NackFrame,
  type ProxyFrame,
  type StatusFrame,
} from '../../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import { TokenBucket } from '../../../shared/runtime/token-bucket.ts';
import { frameBatches } from './frame-batches.ts';
import { FrameStream } from './frame-stream.ts';
import { sentAsIs, type SentSnapshot } from '../content/overlay.ts';
import type { PublishedContent } from '../content/published-content.ts';
import type { PushTiming } from '../push-timing.ts';
import type { Refusals } from './refusals.ts';
import { RetryBackoff } from './retry-backoff.ts';
import { watchSilence } from './watch-silence.ts';

/** The length of a stream's life varies by this part: proxies do not come back all at once. */
const LIFE_VARIATION = 0.1;
/** So many refusals in a row are answered at once: a proxy may name thousands of resources in one. */
const REFUSAL_BURST = 20;
/** A proxy tells its status every ten seconds, and when it changes. */
const STATUS_FRAMES_A_SECOND = 20;
const SECOND = 1000;

/** What of a proxy its streams have in common. */
export interface SessionProxy {
  readonly id: string;
  /** What it serves. */
  readonly base: SentSnapshot | undefined;
  /** Sequence of that, if it is ours; 0: it is not. */
  readonly answered: number;
  readonly refusals: Refusals;
}

/** What a proxy made of a snapshot it was sent whole, or why it must be sent again. */
export type Answer =
  | ({ readonly kind: 'acknowledged' } & Offered)
  | ({ readonly kind: 'refused'; readonly nack: NackFrame } & Offered);

/** A snapshot that a proxy is sent. */
export interface Offered {
  readonly position: SnapshotPosition;
  readonly sent: SentSnapshot;
}

/** Who publishes, as far as the stream of a proxy needs it. */
export interface SessionHost {
  readonly content: PublishedContent;
  readonly timing: PushTiming;
  readonly logger: Logger;
  mayWrite(): boolean;
  /** Pending while the epoch is being raised: nothing is sent then. */
  readonly pause: Promise<void> | undefined;
  /** A snapshot is on its way. */
  offered(session: ProxySession, offered: Offered): void;
  /**
   * Takes an answer. True: the newest snapshot may be sent at once; false: it would be refused again
   * as it is.
   */
  answered(session: ProxySession, answer: Answer): boolean;
  statusChanged(session: ProxySession, status: StatusFrame): void;
  /** The proxy did not answer in time, or did so after all. */
  slownessChanged(session: ProxySession, isSlow: boolean): void;
  closed(session: ProxySession): void;
}

interface Offer extends Offered {
  isSent: boolean;
}

/**
 * The stream of one proxy: sends it one snapshot at a time, always the newest but for what it refused,
 * as a change to what it has where that is possible.
 */
export class ProxySession {
  readonly id: string;
  readonly #host: SessionHost;
  readonly #stream: ServerHttp2Stream;
  readonly #frames: FrameStream;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #retries: RetryBackoff;
  readonly #stopWatching: () => void;
  readonly #heard: () => void;
  readonly #refusals: Refusals;
  readonly #refusalBucket: TokenBucket;
  readonly #statusBucket = new TokenBucket({
    burst: STATUS_FRAMES_A_SECOND,
    perSecond: STATUS_FRAMES_A_SECOND,
  });
  /** What the proxy serves. */
  #base: SentSnapshot | undefined;
  /** Sequence of the newest snapshot that it acknowledged; 0: it must be sent one. */
  #answered = 0;
  #offer: Offer | undefined;
  /** A refusal that arrived before all of its snapshot was sent. */
  #early: NackFrame | undefined;
  #slowTimer: NodeJS.Timeout | undefined;
  /** Sequence of the newest snapshot that it refused as a whole. */
  #refused = 0;
  #isSlow = false;
  #goodbye: string | undefined;

  constructor(host: SessionHost, stream: ServerHttp2Stream, proxy: SessionProxy) {
    this.id = proxy.id;
    this.#host = host;
    this.#stream = stream;
    this.#base = proxy.base;
    this.#answered = proxy.answered;
    this.#refusals = proxy.refusals;
    this.#refusalBucket = new TokenBucket({
      burst: REFUSAL_BURST,
      perSecond: SECOND / host.timing.retryMs,
    });
    this.#frames = new FrameStream({
      stream,
      mayWrite: () => host.mayWrite(),
      onFrame: (frame) => this.#receive(frame),
      onFailure: (error) => this.#fail(error),
      onViolation: () => this.#logViolation('not a frame of the protocol'),
      onClose: () => this.#close(),
    });
    this.#retries = new RetryBackoff(host.timing, () => this.wake());
    const watch = watchSilence({
      timing: host.timing,
      ping: () => this.#ping(),
      onSilence: () => this.#drop('proxy fell silent'),
    });
    this.#stopWatching = watch.stop;
    this.#heard = watch.heard;
    this.#after(lifeOf(host.timing), () => this.end('age'));
  }

  /** Whether the proxy has acknowledged the newest snapshot. */
  get isUpToDate(): boolean {
    return this.#answered === this.#host.content.position.sequence;
  }

  /** Sends the newest snapshot unless the proxy has it, or owes an answer. */
  wake(): void {
    const { content, pause } = this.#host;
    // Another content may be what it takes.
    if (content.position.sequence !== this.#refused) this.#retries.hurry();
    if (this.#offer !== undefined || this.#retries.isWaiting) return;
    if (this.#goodbye !== undefined || pause !== undefined || !this.#frames.isOpen) return;
    if (!content.isPublished || this.isUpToDate) return;
    this.#sendNewest().catch((error: unknown) => this.#fail(error));
  }

  /** Asks the proxy to open another stream, once all of the snapshot under way is sent. */
  end(reason: string): void {
    if (this.#goodbye !== undefined) return;
    this.#goodbye = reason;
    this.#after(this.#host.timing.closeMs, () => this.#frames.destroy());
    if (this.#offer === undefined || this.#offer.isSent) this.#frames.end(reason);
  }

  /** Ends the stream at once: another one with the id of the proxy was opened. */
  replace(): void {
    this.#goodbye = REPLACED;
    this.#after(this.#host.timing.closeMs, () => this.#frames.destroy());
    this.#frames.end(this.#goodbye);
  }

  /** Drops the stream and its connection: nothing more is sent, not even what waits to be. */
  abort(): void {
    this.#frames.destroy();
    this.#stream.session?.destroy();
  }

  async #sendNewest(): Promise<void> {
    const { content } = this.#host;
    const overlay = this.#refusals.overlayOn(content, this.#base);
    if (overlay === undefined) return;
    const delivery = content.deliveryFrom(this.#base, overlay);
    const { position, sent } = delivery;
    const offer: Offer = { position, sent, isSent: false };
    this.#offer = offer;
    this.#host.offered(this, offer);
    this.#slowTimer = this.#after(this.#host.timing.slowMs, () => this.#setSlow(true));
    for (const batch of frameBatches(delivery)) {
      await this.#host.pause;
      if (!(await this.#frames.write(batch))) return;
    }
    offer.isSent = true;
    if (this.#goodbye !== undefined) this.#frames.end(this.#goodbye);
    else if (this.#early !== undefined) this.#takeNack(offer, this.#early);
  }

  #receive(frame: ProxyFrame): void {
    this.#heard();
    switch (frame.t) {
      case 'pong':
        return;
      case 'status':
        if (!this.#statusBucket.take(performance.now())) this.#violate('too many status frames');
        else this.#host.statusChanged(this, frame);
        return;
      case 'ack':
      case 'nack':
        this.#receiveAnswer(frame);
    }
  }

  #receiveAnswer(frame: AckFrame | NackFrame): void {
    // Another stream knows what the proxy serves now.
    if (this.#goodbye === REPLACED) return;
    const offer = this.#offer;
    const isExpected =
      offer?.position.epoch === frame.epoch && offer.position.sequence === frame.seq;
    if (!isExpected || this.#early !== undefined) {
      this.#violate('answer to what was not sent');
      return;
    }
    if (frame.t === 'nack') {
      if (offer.isSent) this.#takeNack(offer, frame);
      else this.#early = frame;
      return;
    }
    if (offer.isSent && frame.version === offer.sent.version) this.#takeAck(offer);
    else this.#violate('acknowledged another snapshot');
  }

  #takeAck({ position, sent }: Offer): void {
    this.#settle();
    this.#base = sent;
    this.#answered = position.sequence;
    this.#retries.succeeded();
    this.#host.answered(this, { kind: 'acknowledged', position, sent });
    this.wake();
  }

  #takeNack({ position, sent }: Offer, nack: NackFrame): void {
    this.#settle();
    this.#answered = 0;
    const isBaseLost = nack.rejected.some(({ reason }) => isAboutTransfer(reason));
    if (isBaseLost || nack.version === null) this.#base = undefined;
    else if (nack.version !== this.#base?.version) this.#base = sentAsIs(nack.version);
    const isWorthwhile = this.#host.answered(this, { kind: 'refused', position, sent, nack });
    if (isWorthwhile && this.#refusalBucket.take(performance.now())) {
      this.wake();
      return;
    }
    this.#retries.failed();
    this.#refused = position.sequence;
    if (isBaseLost && this.#retries.failures === 1) this.wake();
    else this.#retryLater(nack.rejected);
  }

  #settle(): void {
    this.#offer = undefined;
    this.#early = undefined;
    this.#cancel(this.#slowTimer);
    this.#setSlow(false);
  }

  #retryLater(errors: readonly RejectedEntry[]): void {
    const waitMs = this.#retries.wait();
    const [first] = errors;
    const fields = { proxy: this.id, reason: first?.reason, detail: first?.message, waitMs };
    this.#host.logger.error('proxy refuses the whole snapshot', fields);
  }

  #setSlow(isSlow: boolean): void {
    if (this.#isSlow === isSlow) return;
    this.#isSlow = isSlow;
    const { logger } = this.#host;
    if (isSlow) logger.warn('proxy is slow to answer a snapshot', { proxy: this.id });
    this.#host.slownessChanged(this, isSlow);
  }

  #ping(): void {
    const { session } = this.#stream;
    if (this.#host.mayWrite() && session?.destroyed === false) {
      session.ping((error) => {
        if (error === null) this.#heard();
      });
    }
    this.#frames.writeIfRoom({ t: 'ping' });
  }

  #drop(message: string): void {
    this.#host.logger.warn(message, { proxy: this.id });
    this.#frames.destroy();
  }

  #fail(error: unknown): void {
    this.#host.logger.error('push to a proxy failed', { proxy: this.id }, error);
    this.#frames.destroy();
  }

  #violate(reason: string): void {
    this.#logViolation(reason);
    this.#frames.destroy();
  }

  #logViolation(reason: string): void {
    this.#host.logger.warn('proxy broke the push protocol', { proxy: this.id, reason });
  }

  #after(delayMs: number, run: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, delayMs);
    this.#timers.add(timer);
    return timer;
  }

  #cancel(timer: NodeJS.Timeout | undefined): void {
    clearTimeout(timer);
    if (timer !== undefined) this.#timers.delete(timer);
  }

  #close(): void {
    this.#stopWatching();
    this.#retries.cancel();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#host.closed(this);
  }
}

function isAboutTransfer(reason: RejectedEntry['reason']): boolean {
  return reason === 'UnknownBase' || reason === 'BrokenSnapshot';
}

function lifeOf({ streamLifeMs }: PushTiming): number {
  return streamLifeMs * (1 + LIFE_VARIATION * (2 * Math.random() - 1));
}
