import { describe, expect, test } from '@jest/globals';

import {
  LastGood,
  type LastGoodPlaces,
  type LastGoodTiming,
} from '../../../../../proxy/push/last-good/last-good.ts';
import type { PlacedSnapshot } from '../../../../../proxy/store/snapshot/snapshot-keeper.ts';
import { StoreUnavailableError } from '../../../../../proxy/store/store-unavailable-error.ts';
import { snapshotOf } from '../../../../../shared/snapshot/hash-resource.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { ManualClock, settle } from '../../../../support/manual-clock.ts';
import { RecordingKeeper } from '../../../../support/push/recording-keeper.ts';
import { resourcesOf } from '../../../../support/push/some-resources.ts';
import { createRecordingLogger } from '../../../../support/redis/recording-logger.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const SNAPSHOT = snapshotOf(resourcesOf(compiledSettings()));

function placed(sequence: number): PlacedSnapshot {
  return { position: { epoch: 1, sequence }, snapshot: SNAPSHOT };
}

interface TestLastGood extends AsyncDisposable {
  readonly lastGood: LastGood;
  readonly clock: ManualClock;
  readonly logger: ReturnType<typeof createRecordingLogger>;
}

function lastGoodIn(places: LastGoodPlaces, timing: Partial<LastGoodTiming> = {}): TestLastGood {
  const [clock, logger] = [new ManualClock(), createRecordingLogger()];
  const lastGood = new LastGood(places, { logger, timing, clock });
  return {
    lastGood,
    clock,
    logger,
    [Symbol.asyncDispose]: () => lastGood[Symbol.asyncDispose](),
  };
}

describe('LastGood', () => {
  test('saves the first snapshot at once in every place', async () => {
    const [file, redis] = [new RecordingKeeper(), new RecordingKeeper()];
    const timing = { redisSpreadMs: HOUR_MS, redisIntervalMs: HOUR_MS, fileIntervalMs: HOUR_MS };
    await using under = lastGoodIn({ file, redis }, timing);
    const { lastGood, clock } = under;
    lastGood.save(placed(1));
    await clock.advance(0);

    expect([file.saves, redis.saves]).toEqual([[1], [1]]);
  });

  test('saves only the newest of several snapshots that come within the interval', async () => {
    const file = new RecordingKeeper();
    await using under = lastGoodIn({ file }, { fileIntervalMs: SECOND_MS });
    const { lastGood, clock } = under;
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      lastGood.save(placed(sequence));
      await clock.advance(0);
    }
    await clock.advance(SECOND_MS - 1);
    expect(file.saves).toEqual([1]);
    await clock.advance(1);

    expect(file.saves).toEqual([1, 20]);
  });

  test('saves the newest snapshot before the process ends', async () => {
    const file = new RecordingKeeper();
    const { lastGood, clock } = lastGoodIn({ file }, { fileIntervalMs: HOUR_MS });
    lastGood.save(placed(1));
    await clock.advance(0);
    lastGood.save(placed(2));
    await lastGood[Symbol.asyncDispose]();

    expect(file.saves).toEqual([1, 2]);
  });

  test('makes one save at a time', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const file = new RecordingKeeper();
    file.hold = promise;
    const { lastGood, clock } = lastGoodIn({ file }, { fileIntervalMs: 0 });
    lastGood.save(placed(1));
    await clock.advance(0);
    lastGood.save(placed(2));
    lastGood.save(placed(3));
    const ended = lastGood[Symbol.asyncDispose]();
    expect(file.saves).toEqual([1]);
    resolve(undefined);
    await ended;

    expect(file.saves).toEqual([1, 3]);
  });

  test('saves a snapshot again from time to time, in case the place lost it', async () => {
    const redis = new RecordingKeeper();
    const timing = { redisIntervalMs: 0, redisSpreadMs: 0, refreshMs: SECOND_MS };
    await using under = lastGoodIn({ redis }, timing);
    const { lastGood, clock } = under;
    lastGood.save(placed(1));
    await clock.advance(2 * SECOND_MS);

    expect(redis.saves).toEqual([1, 1, 1]);
  });

  test('logs a place that fails once, and once more when it works again', async () => {
    const redis = new RecordingKeeper();
    redis.failure = new StoreUnavailableError('Redis is unreachable: ECONNREFUSED');
    const timing = { redisIntervalMs: 0, redisSpreadMs: 0, retryMs: SECOND_MS };
    await using under = lastGoodIn({ redis }, timing);
    const { lastGood, clock, logger } = under;
    lastGood.save(placed(1));
    await clock.advance(3 * SECOND_MS);
    expect(redis.saves).toHaveLength(3);
    redis.failure = undefined;
    await clock.advance(4 * SECOND_MS);

    expect(logger.records.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'cannot save the last good snapshot'],
      ['info', 'last good snapshot saved again'],
    ]);
  });

  test('waits twice as long after every failed save, up to a limit', async () => {
    const redis = new RecordingKeeper();
    redis.failure = new StoreUnavailableError('Redis failed: no answer in time');
    const timing = { redisIntervalMs: 0, redisSpreadMs: 0, retryMs: 100, longestRetryMs: 350 };
    await using under = lastGoodIn({ redis }, timing);
    const { lastGood, clock } = under;
    lastGood.save(placed(1));
    await clock.advance(0);
    const waits: number[] = [];
    for (let count = 2; count <= 5; count += 1) {
      const before = clock.now();
      while (redis.saves.length < count) await clock.advance(1);
      waits.push(clock.now() - before);
    }

    expect(waits).toEqual([100, 200, 350, 350]);
  });

  test('does not wait for a hanging place when the process ends', async () => {
    const redis = new RecordingKeeper();
    redis.hold = new Promise(() => undefined);
    const { lastGood, clock } = lastGoodIn({ redis }, { lastSaveMs: SECOND_MS });
    lastGood.save(placed(1));
    await clock.advance(0);
    let isDisposed = false;
    const disposed = lastGood[Symbol.asyncDispose]().then(() => (isDisposed = true));
    await settle();
    expect(isDisposed).toBe(false);
    await clock.advance(SECOND_MS);
    await disposed;

    expect(redis.saves).toEqual([1]);
  });

  test('logs once that a place holds a newer snapshot', async () => {
    const redis = new RecordingKeeper();
    redis.outcome = 'newer';
    const timing = { redisIntervalMs: 0, redisSpreadMs: 0, refreshMs: SECOND_MS };
    await using under = lastGoodIn({ redis }, timing);
    const { lastGood, clock, logger } = under;
    lastGood.save(placed(1));
    await clock.advance(3 * SECOND_MS);

    expect(redis.saves).toHaveLength(4);
    expect(logger.records).toEqual([
      {
        level: 'warn',
        message: 'stored snapshot is newer than the one served',
        fields: { place: 'redis', serving: '1.1' },
      },
    ]);
  });
});
