import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../shared/process/logger.ts';
import { formatPosition, type SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Leadership } from '../leader/leadership.ts';
import type { PublishedContent } from './published-content.ts';

/** `leaseTransitions` is an int32: no election leads up to here, and so no proxy has been there. */
const HIGHEST_EPOCH = 2_000_000_000;

export interface EpochGuardOptions {
  readonly leadership: Leadership;
  readonly content: PublishedContent;
  readonly retryMs: number;
  readonly logger: Logger;
  /** The content has a higher epoch. */
  readonly onRaised: () => void;
}

/**
 * Keeps our epoch above that of every snapshot which proxies have and we did not publish: the Lease
 * that counts the epochs may have been deleted, and proxies never go back.
 */
export class EpochGuard {
  readonly #options: EpochGuardOptions;
  #above = 0;
  #pause: Promise<void> | undefined;

  constructor(options: EpochGuardOptions) {
    this.#options = options;
  }

  /** Pending while the epoch is being raised: nothing may be sent then. */
  get pause(): Promise<void> | undefined {
    return this.#pause;
  }

  /** Learns that a proxy has a snapshot which is not ours. True: the epoch is raised above it. */
  heed(proxy: string, position: SnapshotPosition): boolean {
    const { content, logger } = this.#options;
    if (position.epoch < content.position.epoch) return false;
    const fields = { proxy, position: formatPosition(position) };
    if (position.epoch > HIGHEST_EPOCH) {
      logger.error('proxy claims a snapshot of an impossible epoch', fields);
      return false;
    }
    logger.warn('proxy has a snapshot of a later epoch, raising ours', fields);
    this.#above = Math.max(this.#above, position.epoch);
    this.#pause ??= this.#raise();
    return true;
  }

  async #raise(): Promise<void> {
    const { leadership, content, retryMs, logger, onRaised } = this.#options;
    while (leadership.isCurrent && content.position.epoch <= this.#above) {
      try {
        content.raiseEpoch(await leadership.raiseEpochAbove(this.#above));
      } catch (error) {
        logger.error('epoch could not be raised', {}, error);
        await wait(retryMs);
      }
    }
    this.#pause = undefined;
    onRaised();
  }
}
