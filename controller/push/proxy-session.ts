import type { ServerHttp2Stream } from 'node:http2';

import type {
  AckFrame,
  NackError,
  NackFrame,
  ProxyFrame,
  StatusFrame,
} from '../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { frameBatches } from './frame-batches.ts';
import { FrameStream } from './frame-stream.ts';
import type { PublishedContent } from './published-content.ts';
import type { PushTiming } from './push-timing.ts';
import { RetryBackoff } from './retry-backoff.ts';
import { watchSilence } from './watch-silence.ts';

/** The length of a stream's life varies by this part: proxies do not come back all at once. */
const LIFE_VARIATION = 0.1;

/** What a proxy made of a snapshot it was sent whole, or why it must be sent again. */
export type Answer =
  | { readonly kind: 'acknowledged'; readonly position: SnapshotPosition }
  | { readonly kind: 'refused'; readonly position: SnapshotPosition; readonly nack: NackFrame };

/** Who publishes, as far as the stream of a proxy needs it. */
export interface SessionHost {
  readonly content: PublishedContent;
  readonly timing: PushTiming;
  readonly logger: Logger;
  mayWrite(): boolean;
  /** Pending while the epoch is being raised: nothing is sent then. */
  readonly pause: Promise<void> | undefined;
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

interface Offer {
  readonly position: SnapshotPosition;
  readonly version: string;
  isSent: boolean;
}

/**
 * The stream of one proxy: sends it one snapshot at a time, always the newest, as a change to what
 * it has where that is possible.
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
  /** Version of what the proxy serves. */
  #base: string | undefined;
  /** Sequence of the newest snapshot that it answered. */
  #answered = 0;
  #offer: Offer | undefined;
  /** A refusal that arrived before all of its snapshot was sent. */
  #early: NackFrame | undefined;
  #slowTimer: NodeJS.Timeout | undefined;
  /** Sequence of the newest snapshot that it refused as a whole. */
  #refused = 0;
  #isSlow = false;
  #goodbye: string | undefined;

  constructor(
    host: SessionHost,
    stream: ServerHttp2Stream,
    proxy: { readonly id: string; readonly base: string | undefined; readonly answered: number },
  ) {
    this.id = proxy.id;
    this.#host = host;
    this.#stream = stream;
    this.#base = proxy.base;
    this.#answered = proxy.answered;
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

  /** Sends the newest snapshot unless the proxy has it, or owes an answer. */
  wake(): void {
    const { content, pause } = this.#host;
    // Another content may be what it takes.
    if (content.position.sequence !== this.#refused) this.#retries.hurry();
    if (this.#offer !== undefined || this.#retries.isWaiting) return;
    if (this.#goodbye !== undefined || pause !== undefined || !this.#frames.isOpen) return;
    if (!content.isPublished || this.#answered === content.position.sequence) return;
    this.#sendNewest().catch((error: unknown) => this.#fail(error));
  }

  /** Asks the proxy to open another stream, once all of the snapshot under way is sent. */
  end(reason: string): void {
    if (this.#goodbye !== undefined) return;
    this.#goodbye = reason;
    this.#after(this.#host.timing.closeMs, () => this.#frames.destroy());
    if (this.#offer === undefined || this.#offer.isSent) this.#frames.end(reason);
  }

  /** Ends the stream at once: the proxy has opened another. */
  replace(): void {
    this.#goodbye = 'replaced';
    this.#after(this.#host.timing.closeMs, () => this.#frames.destroy());
    this.#frames.end(this.#goodbye);
  }

  /** Drops the stream and its connection: nothing more is sent, not even what waits to be. */
  abort(): void {
    this.#frames.destroy();
    this.#stream.session?.destroy();
  }

  async #sendNewest(): Promise<void> {
    const delivery = this.#host.content.deliveryFrom(this.#base);
    const { position, version } = delivery;
    const offer: Offer = { position, version, isSent: false };
    this.#offer = offer;
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
        this.#host.statusChanged(this, frame);
        return;
      case 'ack':
      case 'nack':
        this.#receiveAnswer(frame);
    }
  }

  #receiveAnswer(frame: AckFrame | NackFrame): void {
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
    if (offer.isSent && frame.manifest === offer.version) this.#takeAck(offer);
    else this.#violate('acknowledged another snapshot');
  }

  #takeAck({ position, version }: Offer): void {
    this.#settle(position, version);
    this.#retries.succeeded();
    this.#host.answered(this, { kind: 'acknowledged', position });
    this.wake();
  }

  #takeNack({ position }: Offer, nack: NackFrame): void {
    this.#settle(position, nack.manifest ?? undefined);
    const isBaseLost = nack.errors.some(({ reason }) => isAboutTransfer(reason));
    if (isBaseLost) this.#base = undefined;
    const isWorthwhile = this.#host.answered(this, { kind: 'refused', position, nack });
    if (isWorthwhile) {
      this.wake();
      return;
    }
    this.#retries.failed();
    this.#refused = position.sequence;
    this.#answered = 0;
    if (isBaseLost && this.#retries.failures === 1) this.wake();
    else this.#retryLater(nack.errors);
  }

  #settle({ sequence }: SnapshotPosition, base: string | undefined): void {
    this.#offer = undefined;
    this.#early = undefined;
    this.#base = base;
    this.#answered = sequence;
    this.#cancel(this.#slowTimer);
    this.#setSlow(false);
  }

  #retryLater(errors: readonly NackError[]): void {
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

function isAboutTransfer(reason: NackError['reason']): boolean {
  return reason === 'UnknownBase' || reason === 'BrokenSnapshot';
}

function lifeOf({ streamLifeMs }: PushTiming): number {
  return streamLifeMs * (1 + LIFE_VARIATION * (2 * Math.random() - 1));
}
