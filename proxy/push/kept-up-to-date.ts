import type { Logger } from '../../shared/process/logger.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../store/snapshot-keeper.ts';

export interface KeepingOptions {
  /** What the log calls it. */
  readonly place: string;
  /** The shortest time from one saving to the next. */
  readonly intervalMs: number;
  /** What could not be saved is tried again this late at the earliest. */
  readonly retryMs: number;
  /** Every saving but the first comes up to so much later, by chance. */
  readonly spreadMs: number;
  /** What was saved is saved again after this time. */
  readonly refreshMs: number;
  readonly logger: Logger;
}

/** Saves the newest of the snapshots it is offered. Those in between are left out. */
export class KeptUpToDate implements AsyncDisposable {
  readonly #keeper: SnapshotKeeper;
  readonly #options: KeepingOptions;
  readonly #refresh: NodeJS.Timeout;
  #newest: PlacedSnapshot | undefined;
  #isSaved = true;
  #isFailing = false;
  #earliest = 0;
  #waiting: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;

  constructor(keeper: SnapshotKeeper, options: KeepingOptions) {
    this.#keeper = keeper;
    this.#options = options;
    this.#refresh = setInterval(() => {
      if (this.#newest !== undefined) this.offer(this.#newest);
    }, options.refreshMs).unref();
  }

  offer(placed: PlacedSnapshot): void {
    const isFirst = this.#newest === undefined;
    this.#newest = placed;
    this.#isSaved = false;
    this.#schedule(isFirst ? 0 : Math.random() * this.#options.spreadMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#refresh);
    clearTimeout(this.#waiting);
    await this.#saving;
    // Saving may have planned the next one.
    clearTimeout(this.#waiting);
    if (!this.#isSaved) await this.#save();
  }

  #schedule(spreadMs: number): void {
    if (this.#waiting !== undefined || this.#saving !== undefined) return;
    const delay = Math.max(0, this.#earliest - performance.now()) + spreadMs;
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      this.#saving = this.#save().finally(() => {
        this.#saving = undefined;
        if (!this.#isSaved) this.#schedule(0);
      });
    }, delay).unref();
  }

  async #save(): Promise<void> {
    const placed = this.#newest;
    if (placed === undefined) return;
    const { place, intervalMs, retryMs, logger } = this.#options;
    this.#earliest = performance.now() + intervalMs;
    try {
      await this.#keeper.save(placed);
      this.#isSaved = placed === this.#newest;
      if (this.#isFailing) logger.info('last good snapshot is kept again', { place });
      this.#isFailing = false;
    } catch (error) {
      this.#earliest = performance.now() + Math.max(intervalMs, retryMs);
      if (!this.#isFailing) logger.warn('last good snapshot cannot be kept', { place }, error);
      this.#isFailing = true;
    }
  }
}
