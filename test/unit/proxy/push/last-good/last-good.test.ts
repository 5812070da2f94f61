import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../../proxy/crypto/sealer.ts';
import {
  LastGoodFinder,
  type FindingOptions,
} from '../../../../../proxy/push/last-good/last-good-finder.ts';
import { LastGood } from '../../../../../proxy/push/last-good/last-good.ts';
import { FileSnapshotKeeper } from '../../../../../proxy/store/snapshot/file-snapshot-keeper.ts';
import type {
  PlacedSnapshot,
  SaveOutcome,
  SnapshotKeeper,
} from '../../../../../proxy/store/snapshot/snapshot-keeper.ts';
import { StoreUnavailableError } from '../../../../../proxy/store/store-unavailable-error.ts';
import { snapshotOf } from '../../../../../shared/snapshot/hash-resource.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { eventually } from '../../../../support/eventually.ts';
import { resourcesOf } from '../../../../support/push/some-resources.ts';
import { createRecordingLogger } from '../../../../support/redis/recording-logger.ts';

const HOUR_MS = 3_600_000;
const SNAPSHOT = snapshotOf(resourcesOf(compiledSettings()));

function placed(sequence: number, epoch = 1): PlacedSnapshot {
  return { position: { epoch, sequence }, snapshot: SNAPSHOT };
}

/** A keeper that notes what it is asked to save, and fails when it is told to. */
class NotingKeeper implements SnapshotKeeper {
  readonly asked: number[] = [];
  loads = 0;
  kept: PlacedSnapshot | undefined;
  failure: Error | undefined;
  outcome: SaveOutcome = 'kept';
  hold: Promise<unknown> = Promise.resolve();

  async save({ position }: PlacedSnapshot): Promise<SaveOutcome> {
    this.asked.push(position.sequence);
    await this.hold;
    if (this.failure !== undefined) throw this.failure;
    return this.outcome;
  }

  load(): Promise<PlacedSnapshot | undefined> {
    this.loads += 1;
    return this.failure === undefined ? Promise.resolve(this.kept) : Promise.reject(this.failure);
  }
}

describe('what is kept of the snapshots that serve', () => {
  const logger = createRecordingLogger();

  test('is the first one, at once and in every place', async () => {
    const [file, redis] = [new NotingKeeper(), new NotingKeeper()];
    const timing = { redisSpreadMs: HOUR_MS, redisIntervalMs: HOUR_MS, fileIntervalMs: HOUR_MS };
    await using lastGood = new LastGood({ file, redis }, { logger, timing });
    lastGood.applied(placed(1));
    await eventually('both are asked', () => file.asked.length > 0 && redis.asked.length > 0);

    expect([file.asked, redis.asked]).toEqual([[1], [1]]);
  });

  test('is the newest of those that come fast', async () => {
    const file = new NotingKeeper();
    await using lastGood = new LastGood({ file }, { logger, timing: { fileIntervalMs: 100 } });
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      lastGood.applied(placed(sequence));
      if (sequence === 1) await eventually('it is asked', () => file.asked.length > 0);
    }
    await eventually('it is asked again', () => file.asked.length > 1);

    expect(file.asked).toEqual([1, 20]);
  });

  test('is saved before the process ends', async () => {
    const file = new NotingKeeper();
    const lastGood = new LastGood({ file }, { logger, timing: { fileIntervalMs: HOUR_MS } });
    lastGood.applied(placed(1));
    await eventually('it is asked', () => file.asked.length > 0);
    lastGood.applied(placed(2));
    await lastGood[Symbol.asyncDispose]();

    expect(file.asked).toEqual([1, 2]);
  });

  test('is not saved twice at a time', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const file = new NotingKeeper();
    file.hold = promise;
    const lastGood = new LastGood({ file }, { logger, timing: { fileIntervalMs: 0 } });
    lastGood.applied(placed(1));
    await eventually('it is asked', () => file.asked.length > 0);
    lastGood.applied(placed(2));
    lastGood.applied(placed(3));
    const ended = lastGood[Symbol.asyncDispose]();
    expect(file.asked).toEqual([1]);
    resolve(undefined);
    await ended;

    expect(file.asked).toEqual([1, 3]);
  });

  test('is asked for now and then, in case it was lost', async () => {
    const redis = new NotingKeeper();
    const timing = { redisIntervalMs: 0, redisSpreadMs: 0, refreshMs: 30 };
    await using lastGood = new LastGood({ redis }, { logger, timing });
    lastGood.applied(placed(1));
    await eventually('it is asked again', () => redis.asked.length > 2);

    expect(new Set(redis.asked)).toEqual(new Set([1]));
  });

  test('does not fail with its place, which is logged once', async () => {
    const own = createRecordingLogger();
    const redis = new NotingKeeper();
    redis.failure = new StoreUnavailableError('Redis is unreachable: ECONNREFUSED');
    const timing = { redisIntervalMs: 0, redisSpreadMs: 0, retryMs: 20 };
    await using lastGood = new LastGood({ redis }, { logger: own, timing });
    lastGood.applied(placed(1));
    await eventually('it is tried again', () => redis.asked.length > 2);
    redis.failure = undefined;
    await eventually('it says so', () => own.messages('info').length > 0);

    expect(own.records.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'last good snapshot cannot be kept'],
      ['info', 'last good snapshot is kept again'],
    ]);
  });
});

describe('a place that takes nothing', () => {
  test('is tried ever less often', async () => {
    const redis = new NotingKeeper();
    redis.failure = new StoreUnavailableError('Redis failed: no answer in time');
    const timing = { redisIntervalMs: 0, redisSpreadMs: 0, retryMs: 100, longestRetryMs: HOUR_MS };
    await using lastGood = new LastGood({ redis }, { logger: createRecordingLogger(), timing });
    const begun = performance.now();
    lastGood.applied(placed(1));
    await eventually('it is tried for the fourth time', () => redis.asked.length >= 4);

    // 100, 200 and 400 ms later, where timers may be a little early.
    expect(performance.now() - begun).toBeGreaterThan(690);
  });

  test('does not hold up the end of the process', async () => {
    const redis = new NotingKeeper();
    redis.hold = new Promise(() => undefined);
    const timing = { lastSaveMs: 50 };
    const lastGood = new LastGood({ redis }, { logger: createRecordingLogger(), timing });
    lastGood.applied(placed(1));
    await eventually('it is asked', () => redis.asked.length > 0);
    await lastGood[Symbol.asyncDispose]();

    expect(redis.asked).toEqual([1]);
  });
});

describe('a place that has a newer snapshot', () => {
  test('is logged once', async () => {
    const own = createRecordingLogger();
    const redis = new NotingKeeper();
    redis.outcome = 'newer';
    const timing = { redisIntervalMs: 0, redisSpreadMs: 0, refreshMs: 20 };
    await using lastGood = new LastGood({ redis }, { logger: own, timing });
    lastGood.applied(placed(1));
    await eventually('it is asked again', () => redis.asked.length > 3);

    expect(own.records).toEqual([
      {
        level: 'warn',
        message: 'a newer snapshot is kept than the one that serves',
        fields: { place: 'redis', serving: '1.1' },
      },
    ]);
  });
});

describe('what is found at the start', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-last-good-'));
  });

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  function keeper(name: string): SnapshotKeeper {
    const sealer = new Sealer([{ secret: Buffer.alloc(32, 'a') }]);
    return new FileSnapshotKeeper({ directory: join(directory, name), id: 'gateway', sealer });
  }

  test.each([
    ['the file', placed(3), placed(2), 3],
    ['Redis', placed(3), placed(1, 2), 1],
    ['the only one', undefined, placed(4), 4],
    ['the other only one', placed(5), undefined, 5],
  ])('is the newest: that of %s', async (_what, inFile, inRedis, sequence) => {
    const logger = createRecordingLogger();
    const places = { file: keeper('file'), redis: keeper('redis') };
    if (inFile !== undefined) await places.file.save(inFile);
    if (inRedis !== undefined) await places.redis.save(inRedis);

    const { served, finder } = finderIn(places, { logger });
    expect(await finder.look()).toBe(true);
    expect(served.map(({ position }) => position.sequence)).toEqual([sequence]);
    expect(logger.messages('info')).toEqual(['last good snapshot found']);
  });

  test('may be nothing', async () => {
    const logger = createRecordingLogger();

    expect(await finderIn({ file: keeper('file') }, { logger }).finder.look()).toBe(false);
    expect(await finderIn({}, { logger }).finder.look()).toBe(false);
    expect(logger.records).toEqual([]);
  });

  test('is what can be read, and what cannot is logged', async () => {
    const logger = createRecordingLogger();
    const redis = new NotingKeeper();
    redis.failure = new StoreUnavailableError('Redis is unreachable: ECONNREFUSED');
    const file = keeper('file');
    await file.save(placed(1));
    const { served, finder } = finderIn({ file, redis }, { logger });
    await finder.look();

    expect(served).toEqual([placed(1)]);
    expect(logger.records[0]).toMatchObject({
      message: 'last good snapshot cannot be read',
      fields: { place: 'redis', error: expect.stringContaining('ECONNREFUSED') },
    });
  });

  test('is the older one when the newest cannot be served', async () => {
    const places = { file: keeper('file'), redis: keeper('redis') };
    await places.file.save(placed(1));
    await places.redis.save(placed(2));
    const asked: number[] = [];
    const { finder } = finderIn(places, {
      serve: ({ position }) => {
        asked.push(position.sequence);
        return position.sequence === 1;
      },
    });

    expect(await finder.look()).toBe(true);
    expect(asked).toEqual([2, 1]);
  });

  test('does not wait for a place that does not answer', async () => {
    const redis = new NotingKeeper();
    redis.load = () => new Promise(() => undefined);
    const file = keeper('file');
    await file.save(placed(1));
    const { served, finder } = finderIn({ file, redis }, { timing: { firstLookMs: 50 } });
    await finder.look();

    expect(served).toEqual([placed(1)]);
  });

  test('is found later, and a place that stays away is logged once', async () => {
    const logger = createRecordingLogger();
    const redis = new NotingKeeper();
    redis.failure = new StoreUnavailableError('Redis is unreachable: ECONNREFUSED');
    const { served, finder } = finderIn({ file: keeper('file'), redis }, { logger });
    expect(await finder.look()).toBe(false);
    const later = finder.goOn(new AbortController().signal);
    await eventually('it was asked again', () => redis.loads > 10);
    redis.failure = undefined;
    redis.kept = placed(7);

    expect(await later).toBe(true);
    expect(served).toEqual([placed(7)]);
    expect(logger.messages('warn')).toEqual(['last good snapshot cannot be read']);
  });

  test('is tried once when it cannot be served', async () => {
    const logger = createRecordingLogger();
    const redis = new NotingKeeper();
    redis.kept = placed(7);
    const { finder } = finderIn({ redis }, { logger, serve: () => false });
    expect(await finder.look()).toBe(false);
    const over = new AbortController();
    const later = finder.goOn(over.signal);
    await eventually('it was asked again', () => redis.loads > 5);
    over.abort();

    expect(await later).toBe(false);
    expect(logger.messages('info')).toEqual(['last good snapshot found']);
  });

  test('is left alone once there is something else', async () => {
    const redis = new NotingKeeper();
    const { promise, resolve } = Promise.withResolvers<PlacedSnapshot>();
    redis.load = () => promise;
    const { served, finder } = finderIn({ redis }, { timing: { firstLookMs: 10 } });
    await finder.look();
    const over = new AbortController();
    const later = finder.goOn(over.signal);
    over.abort();
    resolve(placed(7));

    expect(await later).toBe(false);
    expect(served).toEqual([]);
  });
});

function finderIn(
  places: ConstructorParameters<typeof LastGoodFinder>[0],
  options: Partial<FindingOptions> = {},
): { readonly finder: LastGoodFinder; readonly served: readonly PlacedSnapshot[] } {
  const served: PlacedSnapshot[] = [];
  const finder = new LastGoodFinder(places, {
    serve: (found) => served.push(found) > 0,
    logger: createRecordingLogger(),
    ...options,
    timing: { firstLookMs: 200, intervalMs: 5, longestIntervalMs: 20, ...options.timing },
  });
  return { finder, served };
}
