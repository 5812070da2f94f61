import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Sealer } from '../../proxy/crypto/sealer.ts';
import { FileSnapshotKeeper } from '../../proxy/store/snapshot/file-snapshot-keeper.ts';
import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { RedisSnapshotKeeper } from '../../proxy/store/redis/stores/redis-snapshot-keeper.ts';
import type { PlacedSnapshot, SnapshotKeeper } from '../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import { AN_IDENTITY_PROVIDER } from '../support/compiled-resources.ts';
import { compiledSettings } from '../support/compiled-settings.ts';
import { disposeAfterEach } from '../support/dispose-after-each.ts';
import {
  aCompiledRoute,
  manyResources,
  resourcesOf,
  SOME_SIGNING_KEYS,
} from '../support/push/some-resources.ts';
// Says so where no Redis can run, and fails in CI.
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { noRedisReason } from '../support/redis/no-redis-reason.ts';
import { startRedisCluster, type TestRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { connectionTo, sealerWith } from './redis-stores-under-test.ts';

const ID = 'gatehouse-system/gatehouse';
const THIRTY_DAYS_SECONDS = 30 * 24 * 60 * 60;

/** One place where a snapshot is kept. */
interface Place extends AsyncDisposable {
  /** Another keeper at the same place, as after a start. */
  open(sealer?: Sealer, id?: string): SnapshotKeeper;
  /** Everything that somebody reads who looks there. */
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

/** A snapshot that tells its position. */
function placed(epoch: number, sequence: number): PlacedSnapshot {
  const name = `team/route-${String(epoch)}-${String(sequence)}`;
  return {
    position: { epoch, sequence },
    snapshot: snapshotOf(
      resourcesOf(
        compiledSettings(),
        SOME_SIGNING_KEYS,
        AN_IDENTITY_PROVIDER,
        aCompiledRoute(name),
      ),
    ),
  };
}

function positions(all: readonly (PlacedSnapshot | undefined)[]): readonly unknown[] {
  return all.map((each) => each?.position);
}

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
    // The first time it may believe what stands beside it; then it looks into it.
    expect(await keeper.save({ position, snapshot })).toBe('same');
    expect(await keeper.save({ position, snapshot })).toBe('same');
  });
});

describe('the file of the last good snapshot', () => {
  async function inDirectory(
    run: (directory: string, file: string) => Promise<void>,
  ): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-keeper-'));
    await run(directory, join(directory, 'last-good-snapshot'));
    await rm(directory, { recursive: true });
  }

  function keeperIn(directory: string): FileSnapshotKeeper {
    return new FileSnapshotKeeper({ directory, id: ID, sealer: sealerWith('a') });
  }

  test('is readable for its owner only, and the only file', async () => {
    await inDirectory(async (directory, file) => {
      await keeperIn(directory).save(placed(1, 1));
      await keeperIn(directory).save(placed(1, 2));

      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readdir(directory)).toEqual(['last-good-snapshot']);
    });
  });

  test('is named in the error if it cannot be used, and replaced by the next save', async () => {
    await inDirectory(async (directory, file) => {
      await keeperIn(directory).save(placed(7, 7));
      const text = await readFile(file, 'utf8');
      const middle = text.length >>> 1;
      for (const broken of ['', 'something else\n', text.slice(0, middle), flipped(text, middle)]) {
        await writeFile(file, broken);
        await expect(keeperIn(directory).load()).rejects.toThrow(file);
      }

      expect(await keeperIn(directory).save(placed(1, 1))).toBe('kept');
      expect(await keeperIn(directory).load()).toEqual(placed(1, 1));
    });
  });

  test('is unchanged after a process was killed while writing it', async () => {
    await inDirectory(async (directory, file) => {
      await keeperIn(directory).save(placed(1, 1));
      await writeFile(`${file}.next`, 'half of');

      expect(await keeperIn(directory).load()).toEqual(placed(1, 1));
      expect(await keeperIn(directory).save(placed(1, 2))).toBe('kept');
      expect(await readdir(directory)).toEqual(['last-good-snapshot']);
    });
  });

  test('can be in a directory that does not exist yet', async () => {
    await inDirectory(async (directory) => {
      const keeper = keeperIn(join(directory, 'a', 'b'));
      await keeper.save(placed(1, 1));

      expect(await keeper.load()).toEqual(placed(1, 1));
    });
  });

  test('cannot be in a path that is not a directory', async () => {
    await inDirectory(async (directory) => {
      await writeFile(join(directory, 'file'), '');
      const keeper = keeperIn(join(directory, 'file'));

      await expect(keeper.load()).rejects.toThrow('ENOTDIR');
      await expect(keeper.save(placed(1, 1))).rejects.toThrow('ENOTDIR');
    });
  });
});

describeWithRedis('the last good snapshot of many proxies', () => {
  const keep = disposeAfterEach();
  let redis: TestRedis;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await startRedis();
  });
  beforeEach(async () => {
    await redis.send('FLUSHALL');
    connection = keep(await connectionTo(redis.url));
  });
  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
  });

  test('is the newest, whichever proxy saved it', async () => {
    const connections = await Promise.all(Array.from({ length: 5 }, () => connectionTo(redis.url)));
    const keepers = connections.map((each) => keeperOn(each));
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => placed(2, index + 1)).flatMap((each) =>
        keepers.map(async (keeper) => ({ each, isKept: (await keeper.save(each)) === 'kept' })),
      ),
    );
    const kept = results.filter(({ isKept }) => isKept).map(({ each }) => each.position.sequence);
    const [loaded] = await Promise.all(keepers.map((keeper) => keeper.load()));
    await Promise.all(connections.map((each) => each[Symbol.asyncDispose]()));

    expect(loaded).toEqual(placed(2, 8));
    // Each was kept by one of them at most.
    expect(new Set(kept).size).toBe(kept.length);
  });

  test('is sent to Redis by one proxy, while the others only compare positions', async () => {
    await keeperOn(connection).save(placed(1, 1));
    await redis.send('CONFIG', 'RESETSTAT');
    for (let count = 0; count < 10; count += 1) {
      await keeperOn(connection).save(placed(1, 1));
    }
    const statistics = String(await redis.send('INFO', 'stats'));
    const received = Number(/total_net_input_bytes:(\d+)/.exec(statistics)?.[1]);
    const commands = String(await redis.send('INFO', 'commandstats'));

    expect(received).toBeLessThan(10 * 500);
    expect(commands).not.toContain('cmdstat_hset');
  });

  test('lives for thirty days from the last time a proxy saved it', async () => {
    const keeper = keeperOn(connection);
    await keeper.save(placed(1, 1));
    redis.advance(THIRTY_DAYS_SECONDS - 60);
    expect(await keeper.save(placed(1, 1))).toBe('same');
    redis.advance(THIRTY_DAYS_SECONDS - 60);
    expect(await keeper.load()).toEqual(placed(1, 1));
    redis.advance(120);

    expect(await keeper.load()).toBeUndefined();
    expect(await keeper.save(placed(1, 1))).toBe('kept');
  });

  test('does not live longer because an older one was refused', async () => {
    const keeper = keeperOn(connection);
    await keeper.save(placed(9, 1));
    redis.advance(THIRTY_DAYS_SECONDS - 60);
    expect(await keeper.save(placed(1, 1))).toBe('newer');
    redis.advance(120);

    expect(await keeper.load()).toBeUndefined();
  });

  test('is replaced if no key opens it, whatever position stands beside it', async () => {
    const before = keeperOn(connection);
    await before.save(placed(57, 3));
    const keeper = keeperOn(connection, sealerWith('b'));

    expect(await keeper.save(placed(1, 5))).toBe('kept');
    expect(await keeper.load()).toEqual(placed(1, 5));
  });

  const KEY = `gatehouse:snapshot:{${ID}}`;
  const HIGHEST = '999999999999999.1';

  test.each<[what: string, tamper: () => Promise<unknown>]>([
    ['another position', () => redis.send('HSET', KEY, 'position', HIGHEST)],
    ['a position with too many digits', () => redis.send('HSET', KEY, 'position', `1${HIGHEST}`)],
    [
      'a position and a text',
      () => redis.send('HSET', KEY, 'position', HIGHEST, 'snapshot', 'x'.repeat(100)),
    ],
    [
      'a position without a text',
      async () => {
        await redis.send('HDEL', KEY, 'snapshot');
        await redis.send('HSET', KEY, 'position', HIGHEST);
      },
    ],
    ['what is no hash', () => redis.send('SET', KEY, 'x')],
  ])('is not frozen by someone who writes %s', async (_what, tamper) => {
    const keeper = keeperOn(connection);
    await keeper.save(placed(57, 3));
    await tamper();

    expect(await keeper.save(placed(57, 4))).toBe('kept');
    expect(await keeper.load()).toEqual(placed(57, 4));
    await tamper();
    await keeper.save(placed(57, 4));
    await keeper.save(placed(57, 4));
    expect(await keeper.load()).toEqual(placed(57, 4));
    expect(String(await redis.send('HGET', KEY, 'position'))).toBe('57.4');
  });

  test('is restored when a proxy saves it again', async () => {
    const keeper = keeperOn(connection);
    await keeper.save(placed(1, 1));
    await redis.send('HSET', KEY, 'snapshot', 'x'.repeat(100));
    await keeper.save(placed(1, 1));
    await keeper.save(placed(1, 1));

    expect(await keeper.load()).toEqual(placed(1, 1));
  });

  test('does not open at a different place', async () => {
    await keeperOn(connection).save(placed(1, 1));
    const [from, to] = [ID, 'other/gatehouse'].map((id) => `gatehouse:snapshot:{${id}}`);
    await redis.send('RENAME', String(from), String(to));
    const other = keeperOn(connection, sealerWith('a'), 'other/gatehouse');

    await expect(other.load()).rejects.toThrow('does not open');
  });
});

function isNewer(a: SnapshotPosition, b: SnapshotPosition): boolean {
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.sequence > b.sequence);
}

function flipped(text: string, index: number): string {
  const other = text.charAt(index) === 'A' ? 'B' : 'A';
  return text.slice(0, index) + other + text.slice(index + 1);
}

async function createDirectory(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-keeper-'));
  return {
    open: (sealer = sealerWith('a'), id = ID) => new FileSnapshotKeeper({ directory, id, sealer }),
    read: () => readFile(join(directory, 'last-good-snapshot'), 'utf8'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

function keeperOn(
  connection: RedisConnection,
  sealer = sealerWith('a'),
  id = ID,
): RedisSnapshotKeeper {
  return new RedisSnapshotKeeper(connection, { id, sealer });
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
