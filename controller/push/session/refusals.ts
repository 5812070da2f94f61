import type { RejectedEntry } from '../../../shared/snapshot/push-frames.ts';
import { SETTINGS_KEY, SIGNING_KEYS_KEY } from '../../../shared/snapshot/resource-key.ts';
import { NO_OVERLAY, type Overlay, type SentSnapshot } from '../content/overlay.ts';
import type { PublishedContent } from '../content/published-content.ts';
import type { PushTiming } from '../push-timing.ts';

/** Without one of these a proxy gets nothing: it would answer nobody, or sign with other keys. */
const INDISPENSABLE: ReadonlySet<string> = new Set([SETTINGS_KEY, SIGNING_KEYS_KEY]);

/** A proxy that serves nothing yet gets nothing when it lacks more than so many resources, */
const FEW_LEFT_OUT = 10;
/** and than this part of all: others take its share of the requests. */
const PART_LEFT_OUT = 0.1;

/** What a proxy refused under a key. */
interface Refusal {
  /** Hash of what it refused. */
  readonly hash: string;
  /** Hash of what it goes on with instead; undefined: nothing. */
  readonly serves: string | undefined;
  readonly message: string;
  /** How often it was refused. */
  readonly failures: number;
  /** When it is sent again; undefined: it is to be sent, or was and is not answered. */
  readonly retryAt: number | undefined;
}

/**
 * What one proxy refuses of what is published. It goes on with what it served under these keys, and
 * gets everything else. What it refused is sent again when its content changes, and ever more rarely
 * when it does not.
 */
export class Refusals {
  readonly #timing: PushTiming;
  readonly #refusals = new Map<string, Refusal>();
  /** Something is to be sent again. */
  #onRetry: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(timing: PushTiming) {
    this.#timing = timing;
  }

  get keys(): readonly string[] {
    return [...this.#refusals.keys()];
  }

  get errors(): readonly RejectedEntry[] {
    return [...this.#refusals].map(([key, { message }]) => ({
      key,
      reason: 'InvalidResource',
      message,
    }));
  }

  /** Whether something is to be sent again. */
  get isDue(): boolean {
    return [...this.#refusals.values()].some(({ retryAt }) => retryAt === undefined);
  }

  /** Why the content under a key is refused; undefined: it is not. */
  messageOn(key: string, hash: string): string | undefined {
    const refusal = this.#refusals.get(key);
    return refusal?.hash === hash ? refusal.message : undefined;
  }

  /** Who is told from now on that something is to be sent again. */
  watch(onRetry: () => void): void {
    this.#onRetry = onRetry;
    this.#schedule();
  }

  /** Nobody is told any more. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  clear(): void {
    this.#refusals.clear();
    this.pause();
  }

  /** What the proxy keeps of what it has; undefined: nothing can be sent to it. */
  overlayOn(content: PublishedContent, base: SentSnapshot | undefined): Overlay | undefined {
    if (this.#refusals.size === 0) return NO_OVERLAY;
    const overlay = new Map<string, string | undefined>();
    let isBlocked = false;
    for (const [key, { hash, serves, retryAt }] of this.#refusals) {
      if (content.find(key)?.resource.hash !== hash) this.#refusals.delete(key);
      else if (retryAt !== undefined) {
        overlay.set(key, serves);
        isBlocked ||= serves === undefined && INDISPENSABLE.has(key);
      }
    }
    const leftOut = [...overlay.values()].filter((serves) => serves === undefined).length;
    const limit = Math.max(FEW_LEFT_OUT, content.size * PART_LEFT_OUT);
    isBlocked ||= base === undefined && leftOut > limit;
    return isBlocked ? undefined : overlay;
  }

  /** The proxy took what it was sent. Returns the keys whose content it refuses no more. */
  acknowledged({ overlay }: SentSnapshot): readonly string[] {
    const taken = this.keys.filter((key) => !overlay.has(key));
    for (const key of taken) this.#refusals.delete(key);
    return taken;
  }

  /**
   * The proxy refused what it was sent. Returns the keys that are not sent to it as before: when there
   * are none, it would refuse the same again.
   */
  refused(
    errors: readonly RejectedEntry[],
    sent: SentSnapshot,
    content: PublishedContent,
  ): readonly string[] {
    const hashAt = content.hashesAt(sent.revision) ?? (() => undefined);
    const heeded = errors.filter((error) => this.#heed(error, sent.overlay, hashAt(error.key)));
    this.#schedule();
    return heeded.map(({ key }) => key);
  }

  #heed(
    { key, reason, message, servedHash }: RejectedEntry,
    overlay: Overlay,
    hash: string | undefined,
  ): boolean {
    if (hash === undefined) return false;
    if (overlay.has(key)) return this.#giveUp(key, overlay);
    if (reason !== 'InvalidResource' || servedHash === hash) return false;
    const before = this.#refusals.get(key);
    const failures = 1 + (before?.hash === hash ? before.failures : 0);
    const { refusalRetryMs, longestRefusalRetryMs } = this.#timing;
    const waitMs = Math.min(refusalRetryMs * 2 ** (failures - 1), longestRefusalRetryMs);
    const retryAt = performance.now() + waitMs;
    this.#refusals.set(key, { hash, serves: servedHash, message, failures, retryAt });
    return true;
  }

  /** What it was to go on with cannot stay either. */
  #giveUp(key: string, overlay: Overlay): boolean {
    const refusal = this.#refusals.get(key);
    if (refusal === undefined || overlay.get(key) === undefined) return false;
    this.#refusals.set(key, { ...refusal, serves: undefined });
    return true;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const times = [...this.#refusals.values()].map(({ retryAt }) => retryAt ?? Infinity);
    const next = times.reduce((first, time) => Math.min(first, time), Infinity);
    if (next === Infinity) return;
    this.#timer = setTimeout(() => this.#retry(), Math.max(0, next - performance.now()));
  }

  #retry(): void {
    // A timer may be early by part of a millisecond.
    const now = performance.now() + 1;
    let isDue = false;
    for (const [key, refusal] of this.#refusals) {
      if (refusal.retryAt === undefined || refusal.retryAt > now) continue;
      this.#refusals.set(key, { ...refusal, retryAt: undefined });
      isDue = true;
    }
    this.#schedule();
    if (isDue) this.#onRetry();
  }
}
