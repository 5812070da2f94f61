import type { ServerHttp2Stream } from 'node:http2';

import type { Clock } from '../../../shared/runtime/clock.ts';
import { TokenBucket } from '../../../shared/runtime/token-bucket.ts';
import {
  REPLACED,
  type AckFrame,
  type NackFrame,
  type ProxyFrame,
  type StatusFrame,
} from '../../../shared/snapshot/push-frames.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { PushTiming } from '../push-timing.ts';
import { FrameStream } from './frame-stream.ts';
import { SilenceWatch } from './silence-watch.ts';

/** The life of a stream varies by this share, so that proxies do not reconnect all at once. */
const LIFE_VARIATION = 0.1;
/** Far more than needed: a proxy reports its status every ten seconds, and when it changes. */
const STATUS_FRAMES_A_SECOND = 20;

/** Options that all streams of a leadership share. */
export interface StreamContext {
  readonly timing: PushTiming;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether this controller still leads: checked before every write. */
  readonly mayWrite: () => boolean;
}

/** Options of a push stream. */
export interface PushStreamOptions extends StreamContext {
  readonly stream: ServerHttp2Stream;
  readonly proxyId: string;
  readonly onFrame: (frame: AckFrame | NackFrame | StatusFrame) => void;
  /** The stream has reached its age. */
  readonly onAge: () => void;
  /** The stream is closed, by either side. */
  readonly onClose: () => void;
}

/**
 * The stream of one proxy: keeps it alive by pings, closes it when the proxy is silent or breaks the
 * protocol, and ends it with a `goaway` frame.
 */
export class PushStream {
  readonly #options: PushStreamOptions;
  readonly #frames: FrameStream;
  readonly #silence: SilenceWatch;
  readonly #life: Disposable;
  readonly #statusFrames = new TokenBucket({
    burst: STATUS_FRAMES_A_SECOND,
    perSecond: STATUS_FRAMES_A_SECOND,
  });
  /** Reason of the `goaway`; undefined before the stream is to end. */
  #endReason: string | undefined;
  #closeTimer: Disposable | undefined;

  constructor(options: PushStreamOptions) {
    this.#options = options;
    const { stream, timing, clock, mayWrite, onAge } = options;
    this.#frames = new FrameStream({
      stream,
      mayWrite,
      onFrame: (frame) => this.#receive(frame),
      onFailure: (error) => this.fail(error),
      onViolation: () => this.#logViolation('not a frame of the protocol'),
      onClose: () => this.#close(),
    });
    this.#silence = new SilenceWatch({
      timing,
      clock,
      ping: () => this.#ping(),
      onSilence: () => this.#disconnect('proxy timed out'),
    });
    this.#life = clock.after(lifeOf(timing), onAge);
  }

  /** Whether a snapshot may be sent on it. */
  get isOpen(): boolean {
    return this.#endReason === undefined && this.#frames.isOpen;
  }

  /** Whether it is to end: only the rest of a snapshot and a `goaway` are still sent. */
  get isEnding(): boolean {
    return this.#endReason !== undefined;
  }

  /** Whether the same proxy has opened another stream. */
  get isReplaced(): boolean {
    return this.#endReason === REPLACED;
  }

  /** Resolves when there is room for more, with false if nothing was written or can be. */
  write(lines: Buffer): Promise<boolean> {
    return this.#frames.write(lines);
  }

  /** Begins to end the stream: `sendGoaway` is to follow once the snapshot under way is sent. */
  beginEnd(reason: string): void {
    this.#endReason = reason;
    this.#closeTimer?.[Symbol.dispose]();
    const { clock, timing } = this.#options;
    this.#closeTimer = clock.after(timing.closeMs, () => this.#frames.destroy());
  }

  /** Asks the proxy to open another stream. */
  sendGoaway(): void {
    if (this.#endReason !== undefined) this.#frames.end(this.#endReason);
  }

  /** Drops the stream and its connection, with everything that is not sent yet. */
  abort(): void {
    this.#frames.destroy();
    this.#options.stream.session?.destroy();
  }

  /** Closes the stream because of an error of this controller. */
  fail(error: unknown): void {
    const { logger, proxyId } = this.#options;
    logger.error('push to a proxy failed', { proxy: proxyId }, error);
    this.#frames.destroy();
  }

  /** Closes the stream because the proxy broke the protocol. */
  violate(reason: string): void {
    this.#logViolation(reason);
    this.#frames.destroy();
  }

  #receive(frame: ProxyFrame): void {
    this.#silence.heard();
    if (frame.t === 'pong') return;
    const { clock, onFrame } = this.#options;
    if (frame.t === 'status' && !this.#statusFrames.take(clock.now())) {
      this.violate('too many status frames');
    } else {
      onFrame(frame);
    }
  }

  #ping(): void {
    const { mayWrite, stream } = this.#options;
    const { session } = stream;
    if (mayWrite() && session?.destroyed === false) {
      session.ping((error) => {
        if (error === null) this.#silence.heard();
      });
    }
    this.#frames.writeIfRoom({ t: 'ping' });
  }

  #disconnect(message: string): void {
    const { logger, proxyId } = this.#options;
    logger.warn(message, { proxy: proxyId });
    this.#frames.destroy();
  }

  #logViolation(reason: string): void {
    const { logger, proxyId } = this.#options;
    logger.warn('proxy broke the push protocol', { proxy: proxyId, reason });
  }

  #close(): void {
    this.#silence[Symbol.dispose]();
    this.#life[Symbol.dispose]();
    this.#closeTimer?.[Symbol.dispose]();
    this.#options.onClose();
  }
}

function lifeOf({ streamLifeMs }: PushTiming): number {
  return streamLifeMs * (1 + LIFE_VARIATION * (2 * Math.random() - 1));
}
