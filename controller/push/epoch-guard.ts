import { pause, type Clock } from '../../shared/runtime/clock.ts';
import { formatPosition, type SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Leadership } from '../leader/leadership.ts';
import type { PublishedContent } from './content/published-content.ts';
import type { PushTiming } from './push-timing.ts';

/** `leaseTransitions` is an int32: this leaves room for elections above every claim. */
const HIGHEST_CLAIM = 2_147_000_000;
/**
 * The most that one raise adds to the epoch. A true claim needs one raise, because no cluster has this
 * many elections. A false claim far above needs many, so a lying proxy needs days to use up the epochs.
 */
const LONGEST_STEP = 10_000;
/** The most proxies that one log line names. */
const MAX_LOGGED_PROXIES = 10;

/** Options of an epoch guard. */
export interface EpochGuardOptions {
  readonly leadership: Leadership;
  readonly content: PublishedContent;
  readonly timing: PushTiming;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once the content has a higher epoch. */
  readonly onRaised: () => void;
}

/**
 * Keeps the epoch above that of every snapshot that proxies have and this leadership did not publish.
 * Proxies never go back, and the Lease that counts the epochs may have been deleted.
 *
 * A raise costs a write of the Lease and one frame per proxy, so claims are batched: a proxy that
 * claims ever higher epochs cannot cause many raises.
 */
export class EpochGuard implements Disposable {
  readonly #options: EpochGuardOptions;
  /** Epochs that were claimed since the last raise, by proxy. */
  readonly #claims = new Map<string, number>();
  #raisedAt = -Infinity;
  #timer: Disposable | undefined;
  #pause: Promise<void> | undefined;

  constructor(options: EpochGuardOptions) {
    this.#options = options;
  }

  /** Pending while the epoch is being raised: nothing may be sent meanwhile. */
  get pause(): Promise<void> | undefined {
    return this.#pause;
  }

  /**
   * Records that a proxy has a snapshot of another leadership. Returns whether the epoch is being
   * raised; false: it is high enough, or is raised later.
   */
  claim(proxy: string, position: SnapshotPosition): boolean {
    const { content, clock, logger, timing } = this.#options;
    if (position.epoch < content.position.epoch) return false;
    if (position.epoch > HIGHEST_CLAIM) {
      const fields = { proxy, position: formatPosition(position) };
      logger.error('proxy claims a snapshot of an impossible epoch', fields);
      return false;
    }
    this.#claims.set(proxy, position.epoch);
    if (this.#pause !== undefined) return true;
    const waitMs = this.#raisedAt + timing.raiseIntervalMs - clock.now();
    if (waitMs <= 0) this.#begin();
    else this.#beginAfter(waitMs);
    return waitMs <= 0;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #beginAfter(ms: number): void {
    this.#timer ??= this.#options.clock.after(ms, () => this.#begin());
  }

  #begin(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const { content, logger } = this.#options;
    const ours = content.position.epoch;
    const claims = [...this.#claims].filter(([, epoch]) => epoch >= ours);
    if (claims.length === 0) return;
    const proxies = claims.slice(0, MAX_LOGGED_PROXIES).map(([proxy]) => proxy);
    const fields = { proxies, claims: claims.length, epoch: this.#highest(), ours };
    logger.warn('proxies have snapshots of a later epoch, raising ours', fields);
    this.#pause = this.#raise();
  }

  async #raise(): Promise<void> {
    const { leadership, content, timing, clock, logger, onRaised } = this.#options;
    const target = Math.min(this.#highest(), content.position.epoch + LONGEST_STEP);
    while (leadership.isCurrent && content.position.epoch <= target) {
      try {
        content.raiseEpoch(await leadership.raiseEpochAbove(target));
      } catch (error) {
        logger.error('cannot raise the epoch', {}, error);
        await pause(clock, timing.retryMs, leadership.signal);
      }
    }
    this.#raisedAt = clock.now();
    this.#pause = undefined;
    this.#forgetMet(content.position.epoch);
    onRaised();
  }

  /** Claims above the epoch are left for the next raise. */
  #forgetMet(reached: number): void {
    for (const [proxy, epoch] of this.#claims) {
      if (epoch < reached) this.#claims.delete(proxy);
    }
    const { leadership, timing } = this.#options;
    if (this.#claims.size > 0 && leadership.isCurrent) this.#beginAfter(timing.raiseIntervalMs);
  }

  #highest(): number {
    return Math.max(...this.#claims.values());
  }
}
