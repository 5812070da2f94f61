import { monotonicClock, type Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../../store/snapshot/snapshot-keeper.ts';
import { SnapshotSaver } from './snapshot-saver.ts';

const SECOND = 1000;

/** Places where the last good snapshot is stored. */
export interface LastGoodPlaces {
  /** For this process when it starts again. */
  readonly file?: SnapshotKeeper | undefined;
  /** For other processes. */
  readonly redis?: SnapshotKeeper | undefined;
}

/** Times of saving, in milliseconds; see `SnapshotSaverOptions`. */
export interface LastGoodTiming {
  readonly fileIntervalMs: number;
  readonly redisIntervalMs: number;
  /** Spreads the saves of proxies that apply a snapshot at the same time. */
  readonly redisSpreadMs: number;
  readonly retryMs: number;
  readonly longestRetryMs: number;
  readonly refreshMs: number;
  readonly lastSaveMs: number;
}

const TIMING: LastGoodTiming = {
  fileIntervalMs: SECOND,
  redisIntervalMs: 5 * SECOND,
  redisSpreadMs: SECOND,
  retryMs: 5 * SECOND,
  longestRetryMs: 600 * SECOND,
  refreshMs: 600 * SECOND,
  lastSaveMs: 5 * SECOND,
};

/** Options of a `LastGood`. */
export interface LastGoodOptions {
  readonly logger: Logger;
  readonly timing?: Partial<LastGoodTiming>;
  readonly clock?: Clock;
}

/** Saves the snapshot that serves in every place. Disposing of it finishes the last save. */
export class LastGood implements AsyncDisposable {
  readonly #savers: readonly SnapshotSaver[];

  constructor(
    { file, redis }: LastGoodPlaces,
    { logger, timing, clock = monotonicClock }: LastGoodOptions,
  ) {
    const { fileIntervalMs, redisIntervalMs, redisSpreadMs, ...rest } = { ...TIMING, ...timing };
    const common = { ...rest, logger, clock };
    const inFile = { ...common, place: 'file', intervalMs: fileIntervalMs, spreadMs: 0 };
    const inRedis = {
      ...common,
      place: 'redis',
      intervalMs: redisIntervalMs,
      spreadMs: redisSpreadMs,
    };
    this.#savers = [
      ...(file === undefined ? [] : [new SnapshotSaver(file, inFile)]),
      ...(redis === undefined ? [] : [new SnapshotSaver(redis, inRedis)]),
    ];
  }

  /** Schedules a save of the snapshot that serves now. Returns at once, and never fails. */
  save(placed: PlacedSnapshot): void {
    for (const saver of this.#savers) saver.save(placed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#savers.map((saver) => saver[Symbol.asyncDispose]()));
  }
}
