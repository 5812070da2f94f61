import { pause, type Clock } from '../../../shared/runtime/clock.ts';
import { formatPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../../store/snapshot/snapshot-keeper.ts';

/** Options of a `SnapshotSaver`. */
export interface SnapshotSaverOptions {
  /** Name of the place in the log. */
  readonly place: string;
  /** Shortest time between the beginnings of two saves. */
  readonly intervalMs: number;
  /** Shortest wait after a failed save; it doubles with every further failure. */
  readonly retryMs: number;
  /** Longest wait after a failed save. */
  readonly longestRetryMs: number;
  /** Every save but the first is delayed by a random time of at most this. */
  readonly spreadMs: number;
  /** A saved snapshot is saved again after this time, in case the place lost it. */
  readonly refreshMs: number;
  /** How long the end of the process waits for a save. */
  readonly lastSaveMs: number;
  readonly logger: Logger;
  readonly clock: Clock;
}

type Phase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'waiting'; readonly timer: Disposable }
  | { readonly kind: 'saving'; readonly saved: Promise<void> }
  | { readonly kind: 'closed' };

const IDLE: Phase = { kind: 'idle' };

/**
 * Saves the newest snapshot in one place, one save at a time. Disposing of it saves the last one.
 */
export class SnapshotSaver implements AsyncDisposable {
  readonly #keeper: SnapshotKeeper;
  readonly #options: SnapshotSaverOptions;
  #phase: Phase = IDLE;
  #newest: PlacedSnapshot | undefined;
  #isSaved = true;
  #earliestSave = 0;
  /** Failed saves since the last one that succeeded. */
  #failures = 0;
  #isStoredNewer = false;
  #refresh: Disposable;

  constructor(keeper: SnapshotKeeper, options: SnapshotSaverOptions) {
    this.#keeper = keeper;
    this.#options = options;
    this.#refresh = this.#refreshLater();
  }

  /** Schedules a save of a snapshot, or of a newer one that arrives before it. Never fails. */
  save(placed: PlacedSnapshot): void {
    const isFirst = this.#newest === undefined;
    this.#newest = placed;
    this.#isSaved = false;
    this.#schedule(isFirst ? 0 : Math.random() * this.#options.spreadMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const phase = this.#phase;
    this.#phase = { kind: 'closed' };
    this.#refresh[Symbol.dispose]();
    if (phase.kind === 'waiting') phase.timer[Symbol.dispose]();
    const { clock, lastSaveMs } = this.#options;
    const over = new AbortController();
    const underWay = phase.kind === 'saving' ? phase.saved : undefined;
    await Promise.race([this.#finish(underWay), pause(clock, lastSaveMs, over.signal)]);
    over.abort();
  }

  async #finish(underWay: Promise<void> | undefined): Promise<void> {
    await underWay;
    if (!this.#isSaved) await this.#saveNewest();
  }

  #refreshLater(): Disposable {
    const { clock, refreshMs } = this.#options;
    return clock.after(refreshMs, () => {
      if (this.#newest !== undefined) this.save(this.#newest);
      this.#refresh = this.#refreshLater();
    });
  }

  #schedule(spreadMs: number): void {
    if (this.#phase.kind !== 'idle') return;
    const { clock } = this.#options;
    const waitMs = Math.max(0, this.#earliestSave - clock.now()) + spreadMs;
    this.#phase = { kind: 'waiting', timer: clock.after(waitMs, () => this.#begin()) };
  }

  #begin(): void {
    const saved = this.#saveNewest().then(() => {
      if (this.#phase.kind === 'closed') return;
      this.#phase = IDLE;
      if (!this.#isSaved) this.#schedule(0);
    });
    this.#phase = { kind: 'saving', saved };
  }

  async #saveNewest(): Promise<void> {
    const placed = this.#newest;
    if (placed === undefined) return;
    const { place, intervalMs, logger, clock } = this.#options;
    this.#earliestSave = clock.now() + intervalMs;
    try {
      const outcome = await this.#keeper.save(placed);
      this.#isSaved = placed === this.#newest;
      if (this.#failures > 0) logger.info('last good snapshot saved again', { place });
      this.#failures = 0;
      this.#logIfStoredIsNewer(outcome === 'newer', placed);
    } catch (error) {
      if (this.#failures === 0) logger.warn('cannot save the last good snapshot', { place }, error);
      this.#earliestSave = clock.now() + Math.max(intervalMs, this.#retryDelayMs());
      this.#failures += 1;
    }
  }

  /** Grows with every failure, so that a large snapshot does not keep a slow place busy. */
  #retryDelayMs(): number {
    const { retryMs, longestRetryMs } = this.#options;
    return Math.min(retryMs * 2 ** this.#failures, longestRetryMs);
  }

  #logIfStoredIsNewer(isNewer: boolean, { position }: PlacedSnapshot): void {
    const hasChanged = isNewer !== this.#isStoredNewer;
    this.#isStoredNewer = isNewer;
    if (!hasChanged || !isNewer) return;
    const { place, logger } = this.#options;
    logger.warn('stored snapshot is newer than the one served', {
      place,
      serving: formatPosition(position),
    });
  }
}
