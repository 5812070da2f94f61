import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import { LastGood, loadLastGood } from '../../../../proxy/push/last-good.ts';
import { FileSnapshotKeeper } from '../../../../proxy/store/file/file-snapshot-keeper.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../../../../proxy/store/snapshot-keeper.ts';
import { StoreUnavailableError } from '../../../../proxy/store/store-unavailable-error.ts';
import { snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { eventually } from '../../../support/eventually.ts';
import { resourcesOf } from '../../../support/push/some-resources.ts';
import { createRecordingLogger } from '../../../support/redis/recording-logger.ts';

const HOUR_MS = 3_600_000;
const SNAPSHOT = snapshotOf(resourcesOf(compiledSettings()));

function placed(sequence: number, epoch = 1): PlacedSnapshot {
  return { position: { epoch, sequence }, snapshot: SNAPSHOT };
}

/** A keeper that notes what it is asked to save, and fails when it is told to. */
class NotingKeeper implements SnapshotKeeper {
  readonly asked: number[] = [];
  failure: Error | undefined;
  hold: Promise<unknown> = Promise.resolve();

  async save({ position }: PlacedSnapshot): Promise<boolean> {
    this.asked.push(position.sequence);
    await this.hold;
    if (this.failure !== undefined) throw this.failure;
    return true;
  }

  load(): Promise<PlacedSnapshot | undefined> {
    return this.failure === undefined ? Promise.resolve(undefined) : Promise.reject(this.failure);
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

    expect((await loadLastGood(places, logger))?.position.sequence).toBe(sequence);
    expect(logger.messages('info')).toEqual(['last good snapshot found']);
  });

  test('may be nothing', async () => {
    const logger = createRecordingLogger();

    expect(await loadLastGood({ file: keeper('file') }, logger)).toBeUndefined();
    expect(await loadLastGood({}, logger)).toBeUndefined();
    expect(logger.records).toEqual([]);
  });

  test('is what can be read, and what cannot is logged', async () => {
    const logger = createRecordingLogger();
    const redis = new NotingKeeper();
    redis.failure = new StoreUnavailableError('Redis is unreachable: ECONNREFUSED');
    const file = keeper('file');
    await file.save(placed(1));

    expect(await loadLastGood({ file, redis }, logger)).toEqual(placed(1));
    expect(logger.records[0]).toMatchObject({
      message: 'last good snapshot cannot be read',
      fields: { place: 'redis', error: expect.stringContaining('ECONNREFUSED') },
    });
  });
});
