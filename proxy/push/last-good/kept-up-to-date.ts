import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../../shared/telemetry/logger.ts';
import { formatPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../../store/snapshot/snapshot-keeper.ts';

export interface KeepingOptions {
  /** What the log calls it. */
  readonly place: string;
  /** The shortest time from one saving to the next. */
  readonly intervalMs: number;
  /** What could not be saved is tried again this late at the earliest; twice as late every time. */
  readonly retryMs: number;
  /** But not later than this. */
  readonly longestRetryMs: number;
  /** Every saving but the first comes up to so much later, by chance. */
  readonly spreadMs: number;
  /** What was saved is saved again after this time. */
  readonly refreshMs: number;
  /** How long the end of the process waits for a saving. */
  readonly lastSaveMs: number;
  readonly logger: Logger;
}

/** Saves the newest of the snapshots it is offered. Those in between are left out. */
export class KeptUpToDate implements AsyncDisposable {
  readonly #keeper: SnapshotKeeper;
  readonly #options: KeepingOptions;
  readonly #refresh: NodeJS.Timeout;
  #newest: PlacedSnapshot | undefined;
  #isSaved = true;
  /** Since it was saved. */
  #failures = 0;
  #isNewerKept = false;
  #isClosing = false;
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
    this.#isClosing = true;
    const late = new AbortController();
    const deadline = wait(this.#options.lastSaveMs, undefined, { signal: late.signal });
    await Promise.race([this.#finish(), deadline]);
    late.abort();
  }

  async #finish(): Promise<void> {
    await this.#saving;
    if (!this.#isSaved) await this.#save();
  }

  #schedule(spreadMs: number): void {
    if (this.#isClosing || this.#waiting !== undefined || this.#saving !== undefined) return;
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
    const { place, intervalMs, logger } = this.#options;
    this.#earliest = performance.now() + intervalMs;
    try {
      const outcome = await this.#keeper.save(placed);
      this.#isSaved = placed === this.#newest;
      if (this.#failures > 0) logger.info('last good snapshot is kept again', { place });
      this.#failures = 0;
      this.#tellOfNewer(outcome === 'newer', placed);
    } catch (error) {
      if (this.#failures === 0) logger.warn('last good snapshot cannot be kept', { place }, error);
      this.#earliest = performance.now() + Math.max(intervalMs, this.#retryDelayMs());
      this.#failures += 1;
    }
  }

  /** A large snapshot that a slow place cannot take must not keep it busy. */
  #retryDelayMs(): number {
    const { retryMs, longestRetryMs } = this.#options;
    return Math.min(retryMs * 2 ** this.#failures, longestRetryMs);
  }

  #tellOfNewer(isNewerKept: boolean, { position }: PlacedSnapshot): void {
    const isNews = isNewerKept && !this.#isNewerKept;
    this.#isNewerKept = isNewerKept;
    if (!isNews) return;
    const { place, logger } = this.#options;
    logger.warn('a newer snapshot is kept than the one that serves', {
      place,
      serving: formatPosition(position),
    });
  }
}
