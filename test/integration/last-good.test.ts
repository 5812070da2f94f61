import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import { type LastGoodPlaces } from '../../proxy/push/last-good/last-good.ts';
import { FileSnapshotKeeper } from '../../proxy/store/snapshot/file-snapshot-keeper.ts';
import { RedisSnapshotKeeper } from '../../proxy/store/redis/stores/redis-snapshot-keeper.ts';
import { disposeAfterEach } from '../support/dispose-after-each.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../support/push/push-resources.ts';
import { aLeadership, startPushWorld, type PushWorld } from '../support/push/push-world.ts';
import { connected } from '../support/redis/connected.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';
import {
  connectPushClient,
  keysOf,
  untilServing,
  type ConnectedPushClient,
  type ConnectedPushClientOptions,
} from '../support/push/connected-push-client.ts';

const ID = 'gatehouse-system/gatehouse';
const RESOURCES = [pushedSettings(), ...pushedRoutes(5)];

const keep = disposeAfterEach();
/** Starts the push client of a proxy, and closes it after the test. */
async function startProxy(
  world: PushWorld,
  id: string,
  options?: ConnectedPushClientOptions,
): Promise<ConnectedPushClient> {
  return keep(await connectPushClient(world, id, options));
}

describe('The last good snapshot', () => {
  const sealer = new Sealer([{ secret: Buffer.alloc(32, 'a') }]);

  test('a pod that restarts without a controller serves its last good snapshot', async () => {
    const world = keep(await startPushWorld());
    const leadership = aLeadership(4);
    const publication = world.lead(leadership);
    const directory = keep(await TemporaryDirectory.create()).path;
    const open = (): LastGoodPlaces => ({
      file: new FileSnapshotKeeper({ directory, id: ID, sealer }),
    });
    publication.publish({ put: RESOURCES, deleted: [] });
    const before = await startProxy(world, 'a', { places: open() });
    await untilServing(before, publication.version);
    await before[Symbol.asyncDispose]();
    leadership.end();
    const after = await startProxy(world, 'a', { places: open() });

    expect(after.applied).toEqual(before.applied);
    expect(after.client.isConnected).toBe(false);
  });

  test('a leader with a lower epoch raises it, and then replaces the last good snapshot', async () => {
    const world = keep(await startPushWorld());
    const first = aLeadership(7);
    const publication = world.lead(first);
    const proxy = await startProxy(world, 'a');
    publication.publish({ put: RESOURCES, deleted: [] });
    await untilServing(proxy, publication.version);
    first.end();
    // The Lease was deleted, so its count begins again.
    const second = aLeadership(1);
    const next = world.lead(second);
    next.publish({ put: [...RESOURCES, pushedRoute('new')], deleted: [] });
    await untilServing(proxy, next.version);

    expect(second.raises).toEqual([7]);
    expect(proxy.client.serving?.position).toEqual({ epoch: 8, sequence: expect.any(Number) });
  });

  describeWithRedis('The last good snapshot in Redis', () => {
    test('a new pod that finds no controller serves the last good snapshot', async () => {
      const redis = keep(await startRedis());
      const { connection } = keep(await connected(redis.url));
      const open = (): LastGoodPlaces => ({
        redis: new RedisSnapshotKeeper(connection, { id: ID, sealer }),
      });
      const world = keep(await startPushWorld());
      const leadership = aLeadership(4);
      const publication = world.lead(leadership);
      publication.publish({ put: RESOURCES, deleted: [] });
      const old = await Promise.all(
        ['a', 'b'].map((id) => startProxy(world, id, { places: open() })),
      );
      await Promise.all(old.map((proxy) => untilServing(proxy, publication.version)));
      await Promise.all(old.map((proxy) => proxy[Symbol.asyncDispose]()));
      leadership.end();
      const fresh = await startProxy(world, 'c', { places: open() });

      expect(fresh.applied).toEqual(old[0]?.applied);
    });

    test('a controller replaces the last good snapshot, even after an older one was restored in Redis', async () => {
      const redis = keep(await startRedis());
      const { connection } = keep(await connected(redis.url));
      const keeper = new RedisSnapshotKeeper(connection, { id: ID, sealer });
      const world = keep(await startPushWorld());
      const publication = world.lead(aLeadership(2));
      publication.publish({ put: RESOURCES, deleted: [] });
      const old = await startProxy(world, 'a', { places: { redis: keeper } });
      await untilServing(old, publication.version);
      await old[Symbol.asyncDispose]();
      const stolen = await redis.send('HGETALL', `gatehouse:snapshot:{${ID}}`);
      publication.publish({ put: [], deleted: ['route/default/route-0'] });
      await redis.send('HSET', `gatehouse:snapshot:{${ID}}`, ...[stolen].flat().map(String));
      const fresh = await startProxy(world, 'b', { places: { redis: keeper } });

      expect(keysOf(fresh)).toContain('route/default/route-0');
      await untilServing(fresh, publication.version);
      expect(keysOf(fresh)).not.toContain('route/default/route-0');
    });
  });
});
