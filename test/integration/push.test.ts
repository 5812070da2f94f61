import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import { LastGoodFinder } from '../../proxy/push/last-good/last-good-finder.ts';
import { LastGood, type LastGoodPlaces } from '../../proxy/push/last-good/last-good.ts';
import { PushClient, type PushClientOptions } from '../../proxy/push/push-client.ts';
import { PUSH_CLIENT_TIMING } from '../../proxy/push/connection/push-timing.ts';
import { FileSnapshotKeeper } from '../../proxy/store/snapshot/file-snapshot-keeper.ts';
import { RedisSnapshotKeeper } from '../../proxy/store/redis/stores/redis-snapshot-keeper.ts';
import type { PlacedSnapshot } from '../../proxy/store/snapshot/snapshot-keeper.ts';
import { hashResource } from '../../shared/snapshot/hash-resource.ts';
import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { disposeAfterEach } from '../support/dispose-after-each.ts';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../support/push/push-resources.ts';
import { aLeadership, startPushWorld, type PushWorld } from '../support/push/push-world.ts';
import { connected } from '../support/redis/connected.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { createRecordingLogger } from '../support/redis/recording-logger.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { startTcpRelay } from '../support/tcp-relay.ts';

const ID = 'gatehouse-system/gatehouse';
/** The first wait between two attempts is random, and not longer than this. */
const LONGEST_FIRST_RETRY_MS = 500;
const RESOURCES = [pushedSettings(), ...pushedRoutes(5)];

const keep = disposeAfterEach();

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-push-'));
  keep({ [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) });
  return directory;
}

interface TestProxy extends AsyncDisposable {
  readonly client: PushClient;
  /** Everything that it served, from the start. */
  readonly applied: readonly PlacedSnapshot[];
}

interface TestProxyOptions {
  readonly token?: string;
  readonly port?: number;
  readonly places?: LastGoodPlaces;
  readonly clock?: PushClientOptions['clock'];
  /** Returns the resources of a snapshot that the gateway rejects. */
  readonly check?: (placed: PlacedSnapshot) => readonly RejectedResource[];
}

/** A proxy as a process makes one: what it had before, then what the controller sends. */
async function startProxy(
  world: PushWorld,
  id: string,
  { token = `token-of-${id}`, port = world.port, places = {}, ...options }: TestProxyOptions = {},
): Promise<TestProxy> {
  const directory = await temporaryDirectory();
  const [ca, tokenFile] = [join(directory, 'ca.crt'), join(directory, 'token')];
  await writeFile(ca, world.authority.ca);
  await writeFile(tokenFile, token);
  const logger = createRecordingLogger();
  const applied: PlacedSnapshot[] = [];
  await new LastGoodFinder(places, { serve: (found) => applied.push(found) > 0, logger }).search();
  const lastGood = new LastGood(places, { logger });
  const client = new PushClient({
    url: `https://127.0.0.1:${String(port)}`,
    ca,
    tokenFile,
    proxyId: id,
    serving: applied[0],
    logger,
    ...(options.clock && { clock: options.clock }),
    handlers: {
      apply: (placed) => {
        const refused = options.check?.(placed) ?? [];
        if (refused.length > 0) return refused;
        applied.push(placed);
        lastGood.save(placed);
        return [];
      },
      status: () => ({ ready: applied.length > 0, draining: false, conns: 0 }),
    },
  });
  return keep({
    client,
    applied,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await lastGood[Symbol.asyncDispose]();
    },
  });
}

function keysOf(proxy: TestProxy): readonly string[] {
  return [...(proxy.client.serving?.snapshot.resources.keys() ?? [])].sort();
}

async function untilServing(proxy: TestProxy, version: string): Promise<void> {
  await eventually(
    'it serves the snapshot',
    () => proxy.client.serving?.snapshot.version === version,
  );
}

describe('a controller and its proxies', () => {
  test('agree on the snapshot that serves', async () => {
    const world = keep(await startPushWorld());
    const publication = world.lead(aLeadership(1));
    const proxies = await Promise.all(['a', 'b', 'c'].map((id) => startProxy(world, id)));
    publication.publish({ put: RESOURCES, deleted: [] });
    await eventually(
      'all serve it',
      () => publication.rolloutState('route/default/route-0')?.kind === 'programmed',
    );
    await Promise.all(proxies.map((proxy) => untilServing(proxy, publication.version)));
    publication.publish({
      put: [pushedRoute('route-1', 2), pushedRoute('new')],
      deleted: ['route/default/route-0'],
    });
    await Promise.all(proxies.map((proxy) => untilServing(proxy, publication.version)));

    expect(keysOf(proxies[0] ?? fail())).toContain('route/default/new');
    expect(keysOf(proxies[0] ?? fail())).not.toContain('route/default/route-0');
  });

  test('keep unchanged resources as the same objects', async () => {
    const world = keep(await startPushWorld());
    const publication = world.lead(aLeadership(1));
    const proxy = await startProxy(world, 'a');
    publication.publish({ put: RESOURCES, deleted: [] });
    await untilServing(proxy, publication.version);
    publication.publish({ put: [pushedRoute('route-1', 2)], deleted: [] });
    await untilServing(proxy, publication.version);
    const [before, after] = proxy.applied.map(({ snapshot }) => snapshot.resources);
    const isSame = (key: string): boolean => before?.get(key) === after?.get(key);

    expect([...(after?.keys() ?? [])].filter((key) => !isSame(key))).toEqual([
      'route/default/route-1',
    ]);
  });

  test('agree on kept resources under a new leader, without those that lost their address', async () => {
    const world = keep(await startPushWorld());
    const first = aLeadership(1);
    world.lead(first).publish({ put: RESOURCES, deleted: [] });
    const bad = [pushedRoute('route-1', 2), pushedRoute('route-3', 2)];
    const isBad = ({ hash }: { readonly hash: string }): boolean =>
      bad.some((each) => each.hash === hash);
    const picky = await startProxy(world, 'picky', {
      check: ({ snapshot }) =>
        [...snapshot.resources.values()]
          .filter(isBad)
          .map(({ key }) => ({ key, message: 'no such regular expression' })),
    });
    await eventually('the first', () => picky.client.serving !== undefined);
    const lost = pushedRoute('route-3').value as CompiledRoute;
    const thief = hashResource('route/other/thief', { ...lost, name: 'other/thief' });
    world.lead(aLeadership(2)).publish({ put: [...RESOURCES, ...bad, thief], deleted: [] });
    await eventually('the second', () => picky.client.serving?.position.epoch === 2);

    const { resources } = picky.client.serving?.snapshot ?? fail();
    expect(resources.get('route/default/route-1')).toEqual(pushedRoute('route-1'));
    expect(resources.has('route/default/route-3')).toBe(false);
    expect(resources.get(thief.key)).toEqual(thief);
  });

  test('serve everything but the resources that a proxy rejects', async () => {
    const world = keep(await startPushWorld());
    const publication = world.lead(aLeadership(1));
    const refused = ['route/default/route-1', 'route/default/route-3'];
    const [picky, easy] = await Promise.all([
      startProxy(world, 'picky', {
        check: ({ snapshot }) =>
          refused
            .filter((key) => snapshot.resources.has(key))
            .map((key) => ({ key, message: 'no such regular expression' })),
      }),
      startProxy(world, 'easy'),
    ]);
    publication.publish({ put: RESOURCES, deleted: [] });
    await eventually(
      'one is refused, and others are served',
      () =>
        publication.rolloutState('route/default/route-1')?.kind === 'rejected' &&
        publication.rolloutState('route/default/route-0')?.kind === 'programmed',
    );

    expect(publication.rolloutState('route/default/route-1')).toEqual({
      kind: 'rejected',
      proxy: 'picky',
      message: 'no such regular expression',
    });
    await untilServing(easy, publication.version);
    await eventually('the rest', () => picky.client.serving !== undefined);
    expect(keysOf(picky)).toEqual(keysOf(easy).filter((key) => !refused.includes(key)));
    expect(keysOf(easy)).toEqual(expect.arrayContaining(refused));
  });

  test('refuse a connection without a token', async () => {
    const world = keep(await startPushWorld());
    world.lead(aLeadership(1)).publish({ put: RESOURCES, deleted: [] });
    const stranger = await startProxy(world, 'a', { token: 'token-of-b' });
    const proxy = await startProxy(world, 'c');
    await eventually('the other one is served', () => proxy.applied.length > 0);

    expect(stranger.applied).toEqual([]);
  });

  test('reconnect when a connection is silently dead', async () => {
    const world = keep(await startPushWorld());
    const relay = keep(await startTcpRelay(world.port));
    const publication = world.lead(aLeadership(1));
    const clock = new ManualClock();
    const proxy = await startProxy(world, 'a', { port: relay.port, clock });
    publication.publish({ put: RESOURCES, deleted: [] });
    await untilServing(proxy, publication.version);
    relay.freeze();
    publication.publish({ put: [pushedRoute('new')], deleted: [] });
    await clock.advance(PUSH_CLIENT_TIMING.silenceMs + PUSH_CLIENT_TIMING.pingMs);
    await eventually('the proxy notices', () => !proxy.client.isConnected);
    await clock.advance(LONGEST_FIRST_RETRY_MS);

    await untilServing(proxy, publication.version);
    expect(keysOf(proxy)).toContain('route/default/new');
  });

  test('handle thousands of routes', async () => {
    const world = keep(await startPushWorld());
    const publication = world.lead(aLeadership(1));
    const proxies = await Promise.all(['a', 'b', 'c'].map((id) => startProxy(world, id)));
    publication.publish({ put: [pushedSettings(), ...pushedRoutes(3000)], deleted: [] });
    await Promise.all(proxies.map((proxy) => untilServing(proxy, publication.version)));

    expect(proxies.map((proxy) => keysOf(proxy).length)).toEqual([3001, 3001, 3001]);
  });
});

describe('a last good snapshot', () => {
  const sealer = new Sealer([{ secret: Buffer.alloc(32, 'a') }]);

  test('is served by the same pod when it starts again without a controller', async () => {
    const world = keep(await startPushWorld());
    const leadership = aLeadership(4);
    const publication = world.lead(leadership);
    const directory = await temporaryDirectory();
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

  test('raises the epoch of a leader that begins below it, and is replaced by that leader', async () => {
    const world = keep(await startPushWorld());
    const first = aLeadership(7);
    const publication = world.lead(first);
    const proxy = await startProxy(world, 'a');
    publication.publish({ put: RESOURCES, deleted: [] });
    await untilServing(proxy, publication.version);
    first.end();
    // The Lease was deleted: its count begins anew.
    const second = aLeadership(1);
    const next = world.lead(second);
    next.publish({ put: [...RESOURCES, pushedRoute('new')], deleted: [] });
    await untilServing(proxy, next.version);

    expect(second.raises).toEqual([7]);
    expect(proxy.client.serving?.position).toEqual({ epoch: 8, sequence: expect.any(Number) });
  });

  describeWithRedis('in Redis', () => {
    test('is served by a new pod that finds no controller', async () => {
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

    test('is replaced once a controller is back, also if an older one was restored', async () => {
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

function fail(): never {
  throw new Error('there is none');
}
