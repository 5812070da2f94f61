import { setTimeout as wait } from 'node:timers/promises';

import type { Logger } from '../../shared/process/logger.ts';
import { comparePositions, formatPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../store/snapshot-keeper.ts';
import { StoreUnavailableError } from '../store/store-unavailable-error.ts';
import { KeptUpToDate } from './kept-up-to-date.ts';

const SECOND = 1000;

/** A store that is still being connected to is asked again, for so long. */
const LOAD_MS = 1500;
const LOAD_INTERVAL_MS = 100;

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
  /** After a failure. */
  readonly retryMs: number;
  /** So that what was lost there, or would end there, is there again. */
  readonly refreshMs: number;
}

const TIMING: LastGoodTiming = {
  fileIntervalMs: SECOND,
  redisIntervalMs: 5 * SECOND,
  redisSpreadMs: SECOND,
  retryMs: 5 * SECOND,
  refreshMs: 600 * SECOND,
};

/**
 * Finds the newest snapshot that is kept anywhere; undefined when there is none. What cannot be read
 * is logged and taken for nothing: a proxy starts without it.
 */
export async function loadLastGood(
  places: LastGoodPlaces,
  logger: Logger,
): Promise<PlacedSnapshot | undefined> {
  const found = await Promise.all(
    keepersOf(places).map(([place, keeper]) => load(place, keeper, logger)),
  );
  const [newest] = found
    .filter((each) => each !== undefined)
    .sort((a, b) => comparePositions(b.placed.position, a.placed.position));
  if (newest === undefined) return undefined;
  const { place, placed } = newest;
  logger.info('last good snapshot found', {
    place,
    position: formatPosition(placed.position),
    version: placed.snapshot.version,
  });
  return placed;
}

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

function keepersOf({
  file,
  redis,
}: LastGoodPlaces): readonly (readonly [string, SnapshotKeeper])[] {
  return [
    ...(file === undefined ? [] : [['file', file] as const]),
    ...(redis === undefined ? [] : [['redis', redis] as const]),
  ];
}

async function load(
  place: string,
  keeper: SnapshotKeeper,
  logger: Logger,
): Promise<{ readonly place: string; readonly placed: PlacedSnapshot } | undefined> {
  try {
    const placed = await loadWhileAway(keeper);
    return placed === undefined ? undefined : { place, placed };
  } catch (error) {
    logger.warn('last good snapshot cannot be read', { place }, error);
    return undefined;
  }
}

async function loadWhileAway(keeper: SnapshotKeeper): Promise<PlacedSnapshot | undefined> {
  const deadline = performance.now() + LOAD_MS;
  for (;;) {
    try {
      return await keeper.load();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() > deadline) throw error;
      await wait(LOAD_INTERVAL_MS);
    }
  }
}
