import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { SignInRecord } from '../../proxy/records/sign-in-record.ts';
import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import {
  RedisInventory,
  type InventoryPage,
} from '../../proxy/store/redis/stores/redis-inventory.ts';
import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedisCluster, type TestRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { aClient, aGrant, AN_IDENTITY, aSignIn } from './redis-records.ts';
import { connectionTo, sealerWith } from './redis-stores-under-test.ts';

const LIFE_SECONDS = 600;
const MANY = 2000;

const SERVERS = [
  { name: 'a server', start: () => startRedis() },
  { name: 'a cluster', start: () => startRedisCluster() },
];

type Pages<Value> = AsyncIterable<InventoryPage<Value>>;

async function all<Value>(pages: Pages<Value>): Promise<readonly InventoryPage<Value>[]> {
  const found: InventoryPage<Value>[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

async function idsIn(pages: Pages<{ readonly id: string }>): Promise<readonly string[]> {
  const found = await all(pages);
  return [...new Set(found.flatMap(({ records }) => records.map(({ value }) => value.id)))].sort();
}

describeWithRedis.each(SERVERS)('the inventory of $name', ({ start }) => {
  let redis: TestRedis | TestRedisCluster;
  let connection: RedisConnection;
  let stores: Stores;
  let inventory: RedisInventory;

  beforeAll(async () => {
    redis = await start();
    connection = await connectionTo(redis.url);
    stores = createRedisStores(connection, sealerWith('a'));
    inventory = new RedisInventory(connection, sealerWith('a'));
  });

  afterAll(async () => {
    await connection[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    const nodes = 'nodes' in redis ? redis.nodes : [redis];
    await Promise.all(nodes.map((node) => node.send('FLUSHALL')));
  });

  test('has no pages with records while nothing is kept', async () => {
    expect(await idsIn(inventory.signIns())).toEqual([]);
    expect(await idsIn(inventory.clients())).toEqual([]);
    expect(await inventory.grantsOf(AN_IDENTITY)).toEqual({ records: [], unreadable: 0 });
  });

  test('has every sign-in and every client, of any number, and nothing else', async () => {
    const ids = Array.from({ length: MANY }, (_, index) => `id-${String(index)}`);
    await Promise.all(
      ids.map(async (id) => {
        await stores.signIns.create(aSignIn(id), LIFE_SECONDS);
        await stores.clients.register(aClient(id), LIFE_SECONDS);
        await stores.grants.create(aGrant(id), LIFE_SECONDS);
      }),
    );

    expect(await idsIn(inventory.signIns())).toEqual([...ids].sort());
    expect(await idsIn(inventory.clients())).toEqual([...ids].sort());
  });

  test('has nothing of a gateway with another prefix', async () => {
    await using other = await connectionTo(`${redis.url}?prefix=gatehouse-sign-in`);
    const signIn = aSignIn('sign-in-1');
    await createRedisStores(other, sealerWith('a')).signIns.create(signIn, LIFE_SECONDS);

    expect(await all(inventory.signIns())).not.toContainEqual({ records: [], unreadable: 1 });
    expect(await idsIn(inventory.signIns())).toEqual([]);
    expect(await idsIn(new RedisInventory(other, sealerWith('a')).signIns())).toEqual([
      'sign-in-1',
    ]);
  });

  test('returns records whole, and how long they live', async () => {
    const signIn: SignInRecord = { ...aSignIn('sign-in-1'), createdAt: 1_767_225_600_000 };
    await stores.signIns.create(signIn, LIFE_SECONDS);
    const [kept] = (await all(inventory.signIns())).flatMap(({ records }) => records);

    expect(kept?.value).toEqual(signIn);
    expect(kept?.remainingMs).toBeLessThanOrEqual(LIFE_SECONDS * 1000);
    expect(kept?.remainingMs).toBeGreaterThan((LIFE_SECONDS / 2) * 1000);
  });

  test('has the live grants of a user', async () => {
    for (const id of ['grant-1', 'grant-2']) {
      await stores.grantsOfUsers.keep(AN_IDENTITY, { id }, LIFE_SECONDS);
      await stores.grants.create(aGrant(id), LIFE_SECONDS);
    }
    await stores.grants.revoke('grant-2');
    const { records, unreadable } = await inventory.grantsOf(AN_IDENTITY);

    expect(records.map(({ value }) => value)).toEqual([aGrant('grant-1')]);
    expect(unreadable).toBe(0);
    const other = await inventory.grantsOf({ ...AN_IDENTITY, subject: 'bob' });
    expect(other.records).toEqual([]);
  });

  test('counts records that other keys sealed, and has the others', async () => {
    const others = createRedisStores(connection, sealerWith('b'));
    await others.signIns.create(aSignIn('sign-in-1'), LIFE_SECONDS);
    await stores.signIns.create(aSignIn('sign-in-2'), LIFE_SECONDS);
    await others.grantsOfUsers.keep(AN_IDENTITY, { id: 'grant-1' }, LIFE_SECONDS);
    const pages = await all(inventory.signIns());

    expect(pages.reduce((sum, { unreadable }) => sum + unreadable, 0)).toBe(1);
    expect(await idsIn(inventory.signIns())).toEqual(['sign-in-2']);
    expect(await inventory.grantsOf(AN_IDENTITY)).toEqual({ records: [], unreadable: 1 });
  });

  test('has everything that is kept throughout, while other things come and go', async () => {
    const kept = Array.from({ length: MANY }, (_, index) => `kept-${String(index)}`);
    await Promise.all(kept.map((id) => stores.signIns.create(aSignIn(id), LIFE_SECONDS)));
    const found = new Set<string>();
    let count = 0;
    for await (const { records } of inventory.signIns()) {
      for (const { value } of records) found.add(value.id);
      const coming = Array.from({ length: 200 }, () => `other-${String(count++)}`);
      await Promise.all(coming.map((id) => stores.signIns.create(aSignIn(id), LIFE_SECONDS)));
      await Promise.all(coming.map((id) => stores.signIns.end(id)));
    }

    expect(kept.filter((id) => !found.has(id))).toEqual([]);
  });
});
