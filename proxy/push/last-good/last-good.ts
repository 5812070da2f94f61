import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../../store/snapshot/snapshot-keeper.ts';
import { KeptUpToDate } from './kept-up-to-date.ts';

const SECOND = 1000;

/** Where the last good snapshot is kept. */
export interface LastGoodPlaces {
  /** For this process when it starts again. */
  readonly file?: SnapshotKeeper | undefined;
  /** For other processes. */
  readonly redis?: SnapshotKeeper | undefined;
}

/** Times of saving, in milliseconds. */
export interface LastGoodTiming {
  readonly fileIntervalMs: number;
  readonly redisIntervalMs: number;
  /** Proxies that apply a snapshot at the same time ask at different times whether it is there. */
  readonly redisSpreadMs: number;
  /** After a failure; twice as long after every other, up to the longest. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** So that what was lost there, or would end there, is there again. */
  readonly refreshMs: number;
  /** How long the end of the process waits for a place that does not answer. */
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

/** Keeps each snapshot that serves, soon after it does. Disposing of it saves what is not yet. */
export class LastGood implements AsyncDisposable {
  readonly #kept: readonly KeptUpToDate[];

  constructor(
    { file, redis }: LastGoodPlaces,
    { logger, timing }: { readonly logger: Logger; readonly timing?: Partial<LastGoodTiming> },
  ) {
    const { fileIntervalMs, redisIntervalMs, redisSpreadMs, ...rest } = { ...TIMING, ...timing };
    const inFile = { place: 'file', intervalMs: fileIntervalMs, spreadMs: 0, ...rest, logger };
    const inRedis = {
      place: 'redis',
      intervalMs: redisIntervalMs,
      spreadMs: redisSpreadMs,
      ...rest,
      logger,
    };
    this.#kept = [
      ...(file === undefined ? [] : [new KeptUpToDate(file, inFile)]),
      ...(redis === undefined ? [] : [new KeptUpToDate(redis, inRedis)]),
    ];
  }

  /** Takes what serves now. Returns at once, and never fails. */
  applied(placed: PlacedSnapshot): void {
    for (const kept of this.#kept) kept.offer(placed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#kept.map((kept) => kept[Symbol.asyncDispose]()));
  }
}
