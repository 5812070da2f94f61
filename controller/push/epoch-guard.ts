import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../shared/telemetry/logger.ts';
import { formatPosition, type SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Leadership } from '../leader/leadership.ts';
import type { PublishedContent } from './content/published-content.ts';
import type { PushTiming } from './push-timing.ts';

/** `leaseTransitions` is an int32: what proxies claim leaves room for elections above it. */
const HIGHEST_CLAIM = 2_147_000_000;
/**
 * More than leaders change in the life of a cluster, so a claim that is true is met in one step. One
 * that is far above is met in many: a proxy that lies needs days to use up what there is of epochs.
 */
const LONGEST_STEP = 10_000;
/** So many of those who claim are named in the log. */
const NAMED_PROXIES = 10;

export interface EpochGuardOptions {
  readonly leadership: Leadership;
  readonly content: PublishedContent;
  readonly timing: PushTiming;
  readonly logger: Logger;
  /** The content has a higher epoch. */
  readonly onRaised: () => void;
}

/**
 * Keeps our epoch above that of every snapshot which proxies have and we did not publish: the Lease
 * that counts the epochs may have been deleted, and proxies never go back.
 *
 * A raise costs a write of the Lease and a word to every proxy: claims are gathered, so that a proxy
 * that claims ever more cannot have many of them.
 */
export class EpochGuard {
  readonly #options: EpochGuardOptions;
  /** Epochs that were claimed since the last raise, by proxy. */
  readonly #claims = new Map<string, number>();
  #raisedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #pause: Promise<void> | undefined;

  constructor(options: EpochGuardOptions) {
    this.#options = options;
  }

  /** Pending while the epoch is being raised: nothing may be sent then. */
  get pause(): Promise<void> | undefined {
    return this.#pause;
  }

  /**
   * Learns that a proxy has a snapshot which is not ours. True: the epoch is being raised above it;
   * false: it need not be, or will be later.
   */
  heed(proxy: string, position: SnapshotPosition): boolean {
    const { content, logger, timing } = this.#options;
    if (position.epoch < content.position.epoch) return false;
    if (position.epoch > HIGHEST_CLAIM) {
      const fields = { proxy, position: formatPosition(position) };
      logger.error('proxy claims a snapshot of an impossible epoch', fields);
      return false;
    }
    this.#claims.set(proxy, position.epoch);
    if (this.#pause !== undefined) return true;
    const waitMs = this.#raisedAt + timing.raiseIntervalMs - performance.now();
    if (waitMs <= 0) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), waitMs);
    return waitMs <= 0;
  }

  /** Raises it no more. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { content, logger } = this.#options;
    const ours = content.position.epoch;
    const claims = [...this.#claims].filter(([, epoch]) => epoch >= ours);
    if (claims.length === 0) return;
    const proxies = claims.slice(0, NAMED_PROXIES).map(([proxy]) => proxy);
    const fields = { proxies, claims: claims.length, epoch: this.#highest(), ours };
    logger.warn('proxies have snapshots of a later epoch, raising ours', fields);
    this.#pause = this.#raise();
  }

  async #raise(): Promise<void> {
    const { leadership, content, timing, logger, onRaised } = this.#options;
    const target = Math.min(this.#highest(), content.position.epoch + LONGEST_STEP);
    while (leadership.isCurrent && content.position.epoch <= target) {
      try {
        content.raiseEpoch(await leadership.raiseEpochAbove(target));
      } catch (error) {
        logger.error('epoch could not be raised', {}, error);
        await wait(timing.retryMs);
      }
    }
    this.#raisedAt = performance.now();
    this.#pause = undefined;
    this.#forgetMet(content.position.epoch);
    onRaised();
  }

  /** What is claimed above the epoch is met by the next raise. */
  #forgetMet(reached: number): void {
    for (const [proxy, epoch] of this.#claims) {
      if (epoch < reached) this.#claims.delete(proxy);
    }
    if (this.#claims.size === 0 || !this.#options.leadership.isCurrent) return;
    this.#timer ??= setTimeout(() => this.#begin(), this.#options.timing.raiseIntervalMs);
  }

  #highest(): number {
    return Math.max(...this.#claims.values());
  }
}
