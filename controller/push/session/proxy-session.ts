import type { ServerHttp2Stream } from 'node:http2';

import { formatTraceparent } from '../../../shared/telemetry/tracing/trace-context.ts';
import { TokenBucket } from '../../../shared/runtime/token-bucket.ts';
import type {
  AckFrame,
  NackFrame,
  RejectionReason,
  StatusFrame,
} from '../../../shared/snapshot/push-frames.ts';
import { REPLACED } from '../../../shared/snapshot/push-frames.ts';
import type { DeliveryTrace, DeliveryTraces } from '../../telemetry/delivery-traces.ts';
import type { PushMetrics } from '../../telemetry/push-metrics.ts';
import { sentAsIs, type SentSnapshot } from '../content/overlay.ts';
import type { Delivery, PublishedContent } from '../content/published-content.ts';
import { frameBatches, frameCount } from './frame-batches.ts';
import { PushStream, type StreamContext } from './push-stream.ts';
import type { Rejections } from './rejections.ts';
import { RetryBackoff } from './retry-backoff.ts';
import { SnapshotOffer, type Offered } from './snapshot-offer.ts';

/** Rejections in a row that are answered at once: each may name thousands of resources. */
const REJECTION_BURST = 20;
const SECOND = 1000;

/** Options that all sessions of a leadership share. */
export interface SessionContext extends StreamContext {
  readonly content: PublishedContent;
  readonly metrics: PushMetrics;
  readonly traces: DeliveryTraces;
  /** Pending while the epoch is being raised: nothing is sent meanwhile. */
  readonly pause: () => Promise<void> | undefined;
}

/** The snapshot that a proxy serves. */
export interface ServedSnapshot {
  /** The snapshot that changes are based on; undefined: the proxy is sent a whole snapshot. */
  readonly base: SentSnapshot | undefined;
  /** Sequence that the proxy acknowledged; 0: it serves no position of this leadership. */
  readonly sequence: number;
}

/** The state of a proxy that outlives its streams. */
export interface SessionProxy {
  readonly id: string;
  readonly serving: ServedSnapshot;
  readonly rejections: Rejections;
  readonly acceptsTrace: boolean;
}

/** How a proxy answered a snapshot. */
export type Answer =
  | { readonly kind: 'acknowledged'; readonly offered: Offered }
  | { readonly kind: 'rejected'; readonly offered: Offered; readonly nack: NackFrame };

/** Receives the events of a session. */
export interface SessionObserver {
  /** A snapshot is about to be sent. */
  offered(session: ProxySession, offered: Offered): void;
  /**
   * The proxy answered a snapshot. Returns whether the newest snapshot may be sent at once; if not,
   * the proxy would reject it again.
   */
  answered(session: ProxySession, answer: Answer): boolean;
  statusChanged(session: ProxySession, status: StatusFrame): void;
  /** The proxy did not answer in time, or answered after all. */
  slownessChanged(session: ProxySession, isSlow: boolean): void;
  closed(session: ProxySession): void;
}

/** Options of a session. */
export interface ProxySessionOptions {
  readonly context: SessionContext;
  readonly observer: SessionObserver;
  readonly stream: ServerHttp2Stream;
  readonly proxy: SessionProxy;
}

/**
 * Sends one proxy the newest snapshot, one at a time: without the resources that the proxy rejected,
 * and where possible as changes to the snapshot that it serves.
 */
export class ProxySession {
  readonly id: string;
  readonly #context: SessionContext;
  readonly #observer: SessionObserver;
  readonly #stream: PushStream;
  readonly #rejections: Rejections;
  readonly #rejectionBucket: TokenBucket;
  readonly #retries: RetryBackoff;
  readonly #acceptsTrace: boolean;
  /** The newest sequence when the proxy connected. */
  readonly #openedAt: number;
  #serving: ServedSnapshot;
  /** The snapshot that is not answered yet. */
  #offer: SnapshotOffer | undefined;
  /** Sequence of the newest snapshot that the proxy rejected as a whole. */
  #rejectedSequence = 0;

  constructor({ context, observer, stream, proxy }: ProxySessionOptions) {
    const { timing, clock } = context;
    this.id = proxy.id;
    this.#context = context;
    this.#observer = observer;
    this.#serving = proxy.serving;
    this.#rejections = proxy.rejections;
    this.#acceptsTrace = proxy.acceptsTrace;
    this.#openedAt = context.content.position.sequence;
    const perSecond = SECOND / timing.retryMs;
    this.#rejectionBucket = new TokenBucket({ burst: REJECTION_BURST, perSecond });
    this.#retries = new RetryBackoff({ ...timing, clock, retry: () => this.wake() });
    this.#stream = new PushStream({
      ...context,
      stream,
      proxyId: proxy.id,
      onFrame: (frame) => this.#receive(frame),
      onAge: () => this.end('age'),
      onClose: () => this.#close(),
    });
  }

  /** Whether the proxy has acknowledged the newest snapshot. */
  get isUpToDate(): boolean {
    return this.#serving.sequence === this.#context.content.position.sequence;
  }

  /** Sends the newest snapshot, unless the proxy serves it or has not answered the last one. */
  wake(): void {
    const { content, pause } = this.#context;
    // The proxy may accept changed content.
    if (content.position.sequence !== this.#rejectedSequence) this.#retries.hurry();
    if (this.#offer !== undefined || this.#retries.isWaiting) return;
    if (!this.#stream.isOpen || pause() !== undefined) return;
    if (!content.isPublished || this.isUpToDate) return;
    this.#sendNewest().catch((error: unknown) => this.#stream.fail(error));
  }

  /** Asks the proxy to open another stream, once the snapshot under way is sent. */
  end(reason: string): void {
    if (this.#stream.isEnding) return;
    this.#stream.beginEnd(reason);
    if (this.#offer === undefined || this.#offer.isSent) this.#stream.sendGoaway();
  }

  /** Ends the stream at once, because the same proxy opened another. */
  replace(): void {
    this.#stream.beginEnd(REPLACED);
    this.#stream.sendGoaway();
  }

  /** Drops the stream and its connection, with everything that is not sent yet. */
  abort(): void {
    this.#stream.abort();
  }

  async #sendNewest(): Promise<void> {
    const { content, metrics, pause, clock, timing } = this.#context;
    const { base } = this.#serving;
    const overlay = this.#rejections.overlayOn(content, base);
    if (overlay === undefined) return;
    const delivery = content.deliveryFrom(base, overlay);
    const onSlow = (): void => this.#reportSlow();
    const trace = this.#traceOf(delivery);
    const offer = new SnapshotOffer(delivery, {
      ...{ clock, slowMs: timing.slowMs, onSlow, span: trace?.span },
    });
    this.#offer = offer;
    this.#observer.offered(this, offer);
    const parent = trace && this.#acceptsTrace ? formatTraceparent(trace.context) : undefined;
    let bytes = 0;
    for (const batch of frameBatches(delivery, parent)) {
      await pause();
      if (!(await this.#stream.write(batch))) return;
      metrics.sent(batch.length);
      bytes += batch.length;
    }
    offer.isSent = true;
    trace?.span?.set('gatehouse.snapshot.bytes', bytes);
    metrics.delivered(delivery.base === undefined ? 'whole' : 'changes', frameCount(delivery));
    if (this.#stream.isEnding) this.#stream.sendGoaway();
    else if (offer.earlyNack !== undefined) this.#nacked(offer, offer.earlyNack);
  }

  #traceOf({ position }: Delivery): DeliveryTrace | undefined {
    const after = Math.max(this.#serving.sequence, this.#openedAt);
    return this.#context.traces.begin({ proxyId: this.id, position, after });
  }

  #receive(frame: AckFrame | NackFrame | StatusFrame): void {
    if (frame.t === 'status') {
      this.#observer.statusChanged(this, frame);
      return;
    }
    // The proxy reports its snapshot on its other stream.
    if (this.#stream.isReplaced) return;
    const offer = this.#offer;
    if (offer?.isAnsweredBy(frame) !== true) {
      this.#stream.violate('answered a snapshot that was not sent');
    } else if (frame.t === 'nack') {
      if (offer.isSent) this.#nacked(offer, frame);
      else offer.earlyNack = frame;
    } else if (offer.isSent && frame.version === offer.sent.version) {
      this.#acknowledged(offer);
    } else {
      this.#stream.violate('acknowledged another snapshot');
    }
  }

  #acknowledged(offer: SnapshotOffer): void {
    this.#closeOffer(offer);
    this.#serving = { base: offer.sent, sequence: offer.position.sequence };
    this.#retries.succeeded();
    this.#observer.answered(this, { kind: 'acknowledged', offered: offer });
    this.wake();
  }

  #nacked(offer: SnapshotOffer, nack: NackFrame): void {
    offer.span?.fail(nack.rejected[0]?.reason ?? 'rejected');
    this.#closeOffer(offer);
    const isBaseLost = nack.rejected.some(({ reason }) => isAboutTransfer(reason));
    this.#serving = { base: isBaseLost ? undefined : this.#baseAfter(nack), sequence: 0 };
    const maySend = this.#observer.answered(this, { kind: 'rejected', offered: offer, nack });
    if (maySend && this.#rejectionBucket.take(this.#context.clock.now())) {
      this.wake();
      return;
    }
    this.#retries.failed();
    this.#rejectedSequence = offer.position.sequence;
    if (isBaseLost && this.#retries.failures === 1) this.wake();
    else this.#retryLater(nack);
  }

  #baseAfter({ version }: NackFrame): SentSnapshot | undefined {
    const { base } = this.#serving;
    if (version === null) return undefined;
    return version === base?.version ? base : sentAsIs(version);
  }

  #closeOffer(offer: SnapshotOffer): void {
    offer[Symbol.dispose]();
    this.#offer = undefined;
    if (offer.isSlow) this.#observer.slownessChanged(this, false);
  }

  #retryLater({ rejected }: NackFrame): void {
    const waitMs = this.#retries.schedule();
    const [first] = rejected;
    const fields = { proxy: this.id, reason: first?.reason, detail: first?.message, waitMs };
    this.#context.logger.error('proxy rejects the whole snapshot', fields);
  }

  #reportSlow(): void {
    this.#context.logger.warn('proxy is slow to answer a snapshot', { proxy: this.id });
    this.#observer.slownessChanged(this, true);
  }

  #close(): void {
    this.#retries.cancel();
    this.#offer?.span?.fail('closed');
    this.#offer?.[Symbol.dispose]();
    this.#observer.closed(this);
  }
}

function isAboutTransfer(reason: RejectionReason): boolean {
  return reason === 'UnknownBase' || reason === 'BrokenSnapshot';
}
