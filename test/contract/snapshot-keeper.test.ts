import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';

import type { Sealer } from '../../proxy/crypto/sealer.ts';
import { FileSnapshotKeeper } from '../../proxy/store/snapshot/file-snapshot-keeper.ts';
import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import type { SnapshotKeeper } from '../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import { aCompiledCertificate } from '../support/compiled-resources.ts';
import { compiledSettings } from '../support/compiled-settings.ts';
import { manyResources, resourcesOf } from '../support/push/some-resources.ts';
import { noRedisReason } from '../support/redis/no-redis-reason.ts';
import { startRedisCluster, type TestRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { connectionTo, sealerWith } from './redis-stores-under-test.ts';
import { ID, placed, positions, keeperOn } from './snapshot-keepers.ts';

/** A place where a snapshot is stored. */
interface Place extends AsyncDisposable {
  /** Opens a further keeper of the same place, as after a start. */
  open(sealer?: Sealer, id?: string): SnapshotKeeper;
  /** Returns everything that is stored. */
  read(): Promise<string>;
}

interface Implementation {
  readonly name: string;
  readonly create: () => Promise<Place>;
}

const IMPLEMENTATIONS: readonly Implementation[] = [
  { name: 'a file', create: createDirectory },
  ...(noRedisReason === undefined
    ? [
        { name: 'redis', create: placeIn(() => startRedis()) },
        { name: 'redis cluster', create: placeIn(() => startRedisCluster()) },
      ]
    : []),
];

describe.each(IMPLEMENTATIONS)('the last good snapshot in $name', ({ create }) => {
  test('is absent at first', async () => {
    await using place = await create();

    expect(await place.open().load()).toBeUndefined();
  });

  test('can be loaded by the next process', async () => {
    await using place = await create();
    expect(await place.open().save(placed(1, 1))).toBe('kept');

    expect(await place.open().load()).toEqual(placed(1, 1));
  });

  test.each([
    ['a later one', placed(2, 6), 'kept'],
    ['one of a later leader', placed(3, 1), 'kept'],
    ['the same', placed(2, 5), 'same'],
    ['an older one', placed(2, 4), 'newer'],
    ['one of a leader before', placed(1, 9), 'newer'],
  ])('is replaced by a newer snapshot only: %s', async (_what, next, outcome) => {
    await using place = await create();
    const first = placed(2, 5);
    await place.open().save(first);
    const keeper = place.open();

    const isKept = outcome === 'kept';
    expect(await keeper.save(next)).toBe(outcome);
    expect(await keeper.load()).toEqual(isKept ? next : first);
    expect(await place.open().load()).toEqual(isKept ? next : first);
  });

  test('compares positions as numbers', async () => {
    await using place = await create();
    const keeper = place.open();
    await keeper.save(placed(9, 9));

    expect(await keeper.save(placed(10, 10))).toBe('kept');
    expect(await keeper.save(placed(9, 100))).toBe('newer');
    expect(await keeper.save(placed(10, 9))).toBe('newer');
    expect(await keeper.save(placed(999_999_999_999_999, 1))).toBe('kept');
    expect(await keeper.save(placed(999_999_999_999_998, 2))).toBe('newer');
  });

  test('is the newest of several that are saved at once', async () => {
    await using place = await create();
    const keeper = place.open();
    const all = Array.from({ length: 30 }, (_, index) =>
      placed(1 + ((index * 7) % 5), 1 + ((index * 11) % 30)),
    );
    const newest = all.reduce((a, b) => (isNewer(b.position, a.position) ? b : a));
    const loads = await Promise.all(
      all.map(async (each) => {
        await keeper.save(each);
        return await keeper.load();
      }),
    );

    expect(await keeper.load()).toEqual(newest);
    expect(positions(loads)).not.toContain(undefined);
  });

  test('cannot be read without the sealing keys', async () => {
    await using place = await create();
    await place.open().save(placed(1, 1));
    const read = await place.read();

    expect(read.length).toBeGreaterThan(100);
    for (const secret of ['the-private-key', 'the-client-secret', 'example.com', 'route-1-1']) {
      expect(read).not.toContain(secret);
      expect(read).not.toContain(Buffer.from(secret).toString('base64url').slice(0, -2));
    }
    await expect(place.open(sealerWith('b')).load()).rejects.toThrow(/cannot be used|not open/);
  });

  test('shows no part of the key of a certificate', async () => {
    await using place = await create();
    const certificate = aCompiledCertificate();
    const { position } = placed(1, 1);
    const snapshot = snapshotOf(resourcesOf(compiledSettings(), certificate));
    await place.open().save({ position, snapshot });
    const read = await place.read();
    const loaded = await place.open().load();

    const lines = certificate.privateKey.split('\n').filter((line) => line !== '');
    for (const part of [...lines, certificate.hosts[0] ?? '']) {
      expect(read).not.toContain(part);
      expect(read).not.toContain(Buffer.from(part).toString('base64url').slice(0, -2));
    }
    expect(loaded?.snapshot.resources.get('certificate/team/app')?.value).toEqual(certificate);
  });

  test('cannot be loaded by a different gateway', async () => {
    await using place = await create();
    await place.open().save(placed(1, 1));
    const load = place.open(sealerWith('a'), 'other/gatehouse').load();
    const other = await load.catch((error: unknown) => error);

    expect(other === undefined || other instanceof Error).toBe(true);
  });

  test('is sealed again if its key is not the first', async () => {
    await using place = await create();
    await place.open(sealerWith('a')).save(placed(1, 1));
    const rotated = place.open(sealerWith('b', 'a'));
    await rotated.load();
    expect(await rotated.save(placed(1, 1))).toBe('kept');
    expect(await rotated.save(placed(1, 1))).toBe('same');

    expect(await place.open(sealerWith('b')).load()).toEqual(placed(1, 1));
  });

  test('can have ten thousand routes', async () => {
    await using place = await create();
    const snapshot = snapshotOf(manyResources(10_000));
    const position = { epoch: 1, sequence: 1 };
    await place.open().save({ position, snapshot });
    const loaded = await place.open().load();

    expect(loaded?.snapshot.version).toBe(snapshot.version);
    expect(loaded?.snapshot.resources.size).toBe(snapshot.resources.size);
    expect((await place.read()).length).toBeLessThan(4 * 1024 * 1024);
    const keeper = place.open();
    // The first save may trust the hint beside the snapshot; the second opens the seal.
    expect(await keeper.save({ position, snapshot })).toBe('same');
    expect(await keeper.save({ position, snapshot })).toBe('same');
  });
});

function isNewer(a: SnapshotPosition, b: SnapshotPosition): boolean {
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.sequence > b.sequence);
}

async function createDirectory(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-keeper-'));
  return {
    open: (sealer = sealerWith('a'), id = ID) => new FileSnapshotKeeper({ directory, id, sealer }),
    read: () => readFile(join(directory, 'last-good-snapshot'), 'utf8'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

/** Places in a Redis that runs for all tests of this file. */
function placeIn(start: () => Promise<TestRedis | TestRedisCluster>): () => Promise<Place> {
  let running: Promise<readonly [TestRedis | TestRedisCluster, RedisConnection]> | undefined;
  const run = async (): Promise<readonly [TestRedis | TestRedisCluster, RedisConnection]> => {
    const redis = await start();
    return [redis, await connectionTo(redis.url)];
  };
  afterAll(async () => {
    const [redis, connection] = (await running) ?? [];
    await connection?.[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  });
  return async () => {
    running ??= run();
    const [redis, connection] = await running;
    const nodes = 'nodes' in redis ? redis.nodes : [redis];
    await Promise.all(nodes.map((node) => node.send('FLUSHALL')));
    return {
      open: (sealer, id) => keeperOn(connection, sealer, id),
      read: async () =>
        JSON.stringify(await connection.send('HGETALL', `gatehouse:snapshot:{${ID}}`)),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  };
}
