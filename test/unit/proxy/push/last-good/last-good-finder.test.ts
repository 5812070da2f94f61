import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../../proxy/crypto/sealer.ts';
import {
  LastGoodFinder,
  type LastGoodFinderOptions,
} from '../../../../../proxy/push/last-good/last-good-finder.ts';
import type { LastGoodPlaces } from '../../../../../proxy/push/last-good/last-good.ts';
import { FileSnapshotKeeper } from '../../../../../proxy/store/snapshot/file-snapshot-keeper.ts';
import type {
  PlacedSnapshot,
  SnapshotKeeper,
} from '../../../../../proxy/store/snapshot/snapshot-keeper.ts';
import { StoreUnavailableError } from '../../../../../proxy/store/store-unavailable-error.ts';
import { snapshotOf } from '../../../../../shared/snapshot/hash-resource.ts';
import { compiledSettings } from '../../../../support/compiled-settings.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { RecordingKeeper } from '../../../../support/push/recording-keeper.ts';
import { resourcesOf } from '../../../../support/push/some-resources.ts';
import { createRecordingLogger } from '../../../../support/redis/recording-logger.ts';

const SECOND_MS = 1000;
const FIRST_SEARCH_MS = SECOND_MS / 2;
/** More than two reads of a place are apart. */
const LONGEST_INTERVAL_MS = 8 * SECOND_MS;
const SNAPSHOT = snapshotOf(resourcesOf(compiledSettings()));
const UNREACHABLE = new StoreUnavailableError('Redis is unreachable: ECONNREFUSED');

function placed(sequence: number, epoch = 1): PlacedSnapshot {
  return { position: { epoch, sequence }, snapshot: SNAPSHOT };
}

describe('LastGoodFinder', () => {
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
    ['that of the file', placed(3), placed(2), 3],
    ['that of Redis', placed(3), placed(1, 2), 1],
    ['the only one, in Redis', undefined, placed(4), 4],
    ['the only one, in the file', placed(5), undefined, 5],
  ])('serves the newest snapshot: %s', async (_what, inFile, inRedis, sequence) => {
    const places = { file: keeper('file'), redis: keeper('redis') };
    if (inFile !== undefined) await places.file.save(inFile);
    if (inRedis !== undefined) await places.redis.save(inRedis);

    const { served, finder, logger } = finderIn(places);
    expect(await finder.search()).toBe(true);
    expect(served.map(({ position }) => position.sequence)).toEqual([sequence]);
    expect(logger.messages('info')).toEqual(['last good snapshot found']);
  });

  test('serves nothing and logs nothing if every place is empty', async () => {
    const [empty, none] = [finderIn({ file: keeper('file') }), finderIn({})];

    expect(await empty.finder.search()).toBe(false);
    expect(await none.finder.search()).toBe(false);
    expect([...empty.logger.records, ...none.logger.records]).toEqual([]);
  });

  test('serves what it can read, and logs the place that it cannot', async () => {
    const redis = new RecordingKeeper();
    redis.failure = UNREACHABLE;
    const file = new RecordingKeeper();
    file.stored = placed(1);
    const { served, finder, logger, clock } = finderIn({ file, redis });
    const found = finder.search();
    await clock.advance(FIRST_SEARCH_MS);
    await found;

    expect(served).toEqual([placed(1)]);
    expect(logger.records[0]).toMatchObject({
      message: 'last good snapshot cannot be read',
      fields: { place: 'redis', error: expect.stringContaining('ECONNREFUSED') },
    });
  });

  test('serves the older snapshot if the newest cannot be served', async () => {
    const places = { file: keeper('file'), redis: keeper('redis') };
    await places.file.save(placed(1));
    await places.redis.save(placed(2));
    const offered: number[] = [];
    const { finder } = finderIn(places, {
      serve: ({ position }) => {
        offered.push(position.sequence);
        return position.sequence === 1;
      },
    });

    expect(await finder.search()).toBe(true);
    expect(offered).toEqual([2, 1]);
  });

  test('does not wait for a place that hangs', async () => {
    const redis = new RecordingKeeper();
    redis.load = () => new Promise(() => undefined);
    const file = new RecordingKeeper();
    file.stored = placed(1);
    const { served, finder, clock } = finderIn({ file, redis });
    const found = finder.search();
    await clock.advance(FIRST_SEARCH_MS);
    await found;

    expect(served).toEqual([placed(1)]);
  });

  test('finds a snapshot later, and logs a place that stays unreachable once', async () => {
    const redis = new RecordingKeeper();
    redis.failure = UNREACHABLE;
    const { served, finder, logger, clock } = finderIn({ redis });
    const first = finder.search();
    await clock.advance(FIRST_SEARCH_MS);
    expect(await first).toBe(false);
    const found = finder.keepSearching(new AbortController().signal);
    await clock.advance(10 * LONGEST_INTERVAL_MS);
    expect(redis.loads).toBeGreaterThan(10);
    redis.failure = undefined;
    redis.stored = placed(7);
    await clock.advance(LONGEST_INTERVAL_MS);

    expect(await found).toBe(true);
    expect(served).toEqual([placed(7)]);
    expect(logger.messages('warn')).toEqual(['last good snapshot cannot be read']);
  });

  test('tries a snapshot that cannot be served once', async () => {
    const redis = new RecordingKeeper();
    redis.stored = placed(7);
    const { finder, logger, clock } = finderIn({ redis }, { serve: () => false });
    expect(await finder.search()).toBe(false);
    const over = new AbortController();
    const found = finder.keepSearching(over.signal);
    await clock.advance(10 * LONGEST_INTERVAL_MS);
    expect(redis.loads).toBeGreaterThan(5);
    over.abort();

    expect(await found).toBe(false);
    expect(logger.messages('info')).toEqual(['last good snapshot found']);
  });

  test('serves nothing that it finds after the search was ended', async () => {
    const redis = new RecordingKeeper();
    const { promise, resolve } = Promise.withResolvers<PlacedSnapshot>();
    redis.load = () => promise;
    const { served, finder, clock } = finderIn({ redis });
    const first = finder.search();
    await clock.advance(FIRST_SEARCH_MS);
    await first;
    const over = new AbortController();
    const found = finder.keepSearching(over.signal);
    over.abort();
    resolve(placed(7));

    expect(await found).toBe(false);
    expect(served).toEqual([]);
  });
});

interface TestFinder {
  readonly finder: LastGoodFinder;
  readonly served: readonly PlacedSnapshot[];
  readonly logger: ReturnType<typeof createRecordingLogger>;
  readonly clock: ManualClock;
}

function finderIn(
  places: LastGoodPlaces,
  options: Partial<Pick<LastGoodFinderOptions, 'serve'>> = {},
): TestFinder {
  const served: PlacedSnapshot[] = [];
  const [clock, logger] = [new ManualClock(), createRecordingLogger()];
  const serve = (found: PlacedSnapshot): boolean => served.push(found) > 0;
  return {
    finder: new LastGoodFinder(places, { serve, logger, clock, ...options }),
    served,
    logger,
    clock,
  };
}
