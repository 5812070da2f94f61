import type { Clock } from '../../../shared/runtime/clock.ts';
import type { RejectedEntry } from '../../../shared/snapshot/push-frames.ts';
import { SETTINGS_KEY, SIGNING_KEYS_KEY } from '../../../shared/snapshot/resource-key.ts';
import { NO_OVERLAY, type Overlay, type SentSnapshot } from '../content/overlay.ts';
import type { PublishedContent } from '../content/published-content.ts';
import type { PushTiming } from '../push-timing.ts';

/** A proxy that lacks one of these is sent nothing: it would serve nobody, or sign with other keys. */
const INDISPENSABLE: ReadonlySet<string> = new Set([SETTINGS_KEY, SIGNING_KEYS_KEY]);

/** A proxy that serves nothing is sent a snapshot if it lacks at most this many resources. */
const FEW_LEFT_OUT = 10;
/** A proxy that serves nothing is sent a snapshot if it lacks at most this share of the resources. */
const SHARE_LEFT_OUT = 0.1;

/** A resource that a proxy rejected. */
interface Rejection {
  /** Hash of the rejected content. */
  readonly hash: string;
  /** Hash of the content that the proxy keeps serving instead; undefined if none. */
  readonly servedHash: string | undefined;
  readonly message: string;
  /** How often this content was rejected. */
  readonly failures: number;
  /** When to send it again, in monotonic milliseconds; undefined if it is due, or sent and unanswered. */
  readonly retryAt: number | undefined;
}

/**
 * The published resources that one proxy rejects. The proxy keeps serving its earlier content of their
 * keys, and is sent everything else. A rejected resource is sent again when its content changes, and
 * otherwise at growing intervals.
 */
export class Rejections {
  readonly #timing: PushTiming;
  readonly #clock: Clock;
  readonly #rejections = new Map<string, Rejection>();
  #onRetry: () => void = () => undefined;
  #timer: Disposable | undefined;

  constructor(timing: PushTiming, clock: Clock) {
    this.#timing = timing;
    this.#clock = clock;
  }

  get keys(): readonly string[] {
    return [...this.#rejections.keys()];
  }

  get entries(): readonly RejectedEntry[] {
    return [...this.#rejections].map(([key, { message }]) => ({
      key,
      reason: 'InvalidResource',
      message,
    }));
  }

  /** Whether a rejected resource is to be sent again. */
  get isRetryDue(): boolean {
    return [...this.#rejections.values()].some(({ retryAt }) => retryAt === undefined);
  }

  /** The reason why the proxy rejects this content of a key; undefined if it does not. */
  messageOn(key: string, hash: string): string | undefined {
    const rejection = this.#rejections.get(key);
    return rejection?.hash === hash ? rejection.message : undefined;
  }

  /** Calls `onRetry` whenever a rejected resource is to be sent again, until `pause`. */
  resume(onRetry: () => void): void {
    this.#onRetry = onRetry;
    this.#schedule();
  }

  pause(): void {
    this.#timer?.[Symbol.dispose]();
  }

  clear(): void {
    this.#rejections.clear();
    this.pause();
  }

  /** Returns the overlay of the proxy; undefined if it is to be sent nothing. */
  overlayOn(content: PublishedContent, base: SentSnapshot | undefined): Overlay | undefined {
    if (this.#rejections.size === 0) return NO_OVERLAY;
    const overlay = new Map<string, string | undefined>();
    let isBlocked = false;
    for (const [key, { hash, servedHash, retryAt }] of this.#rejections) {
      if (content.find(key)?.resource.hash !== hash) this.#rejections.delete(key);
      else if (retryAt !== undefined) {
        overlay.set(key, servedHash);
        isBlocked ||= servedHash === undefined && INDISPENSABLE.has(key);
      }
    }
    const leftOut = [...overlay.values()].filter((served) => served === undefined).length;
    const limit = Math.max(FEW_LEFT_OUT, content.size * SHARE_LEFT_OUT);
    isBlocked ||= base === undefined && leftOut > limit;
    return isBlocked ? undefined : overlay;
  }

  /** Records that the proxy acknowledged a snapshot. Returns the keys that it accepts now. */
  acknowledge({ overlay }: SentSnapshot): readonly string[] {
    const accepted = this.keys.filter((key) => !overlay.has(key));
    for (const key of accepted) this.#rejections.delete(key);
    return accepted;
  }

  /**
   * Records that the proxy rejected a snapshot. Returns the keys that are left out or changed from now
   * on; if there are none, the proxy would reject the same snapshot again.
   */
  reject(
    entries: readonly RejectedEntry[],
    sent: SentSnapshot,
    content: PublishedContent,
  ): readonly string[] {
    const hashAt = content.hashesAt(sent.revision) ?? (() => undefined);
    const changed = entries.filter((entry) => this.#add(entry, sent.overlay, hashAt(entry.key)));
    this.#schedule();
    return changed.map(({ key }) => key);
  }

  #add(entry: RejectedEntry, overlay: Overlay, hash: string | undefined): boolean {
    const { key, reason, message, servedHash } = entry;
    if (hash === undefined) return false;
    if (overlay.has(key)) return this.#dropServed(key, overlay);
    if (reason !== 'InvalidResource' || servedHash === hash) return false;
    const before = this.#rejections.get(key);
    const failures = 1 + (before?.hash === hash ? before.failures : 0);
    const { rejectionRetryMs, longestRejectionRetryMs } = this.#timing;
    const waitMs = Math.min(rejectionRetryMs * 2 ** (failures - 1), longestRejectionRetryMs);
    const retryAt = this.#clock.now() + waitMs;
    this.#rejections.set(key, { hash, servedHash, message, failures, retryAt });
    return true;
  }

  /** Records that the proxy cannot keep its earlier content either. */
  #dropServed(key: string, overlay: Overlay): boolean {
    const rejection = this.#rejections.get(key);
    if (rejection === undefined || overlay.get(key) === undefined) return false;
    this.#rejections.set(key, { ...rejection, servedHash: undefined });
    return true;
  }

  #schedule(): void {
    this.pause();
    const times = [...this.#rejections.values()].map(({ retryAt }) => retryAt ?? Infinity);
    const next = times.reduce((first, time) => Math.min(first, time), Infinity);
    if (next === Infinity) return;
    const waitMs = Math.max(0, next - this.#clock.now());
    this.#timer = this.#clock.after(waitMs, () => this.#retry());
  }

  #retry(): void {
    // A timer may fire a fraction of a millisecond early.
    const now = this.#clock.now() + 1;
    let isDue = false;
    for (const [key, rejection] of this.#rejections) {
      if (rejection.retryAt === undefined || rejection.retryAt > now) continue;
      this.#rejections.set(key, { ...rejection, retryAt: undefined });
      isDue = true;
    }
    this.#schedule();
    if (isDue) this.#onRetry();
  }
}
