import { describe, expect, test } from '@jest/globals';

import { PUSH_CLIENT_TIMING } from '../../proxy/push/connection/push-timing.ts';
import { UpstreamAuthJournal } from '../../proxy/push/upstream-auth-journal.ts';
import { LONGEST_PROXY_LINE_BYTES } from '../../shared/snapshot/push-frames.ts';
import { hashResource } from '../../shared/snapshot/hash-resource.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { disposeAfterEach } from '../support/dispose-after-each.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { eventually } from '../support/eventually.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../support/push/push-resources.ts';
import { aLeadership, startPushWorld, type PushWorld } from '../support/push/push-world.ts';
import { startTcpRelay } from '../support/tcp-relay.ts';
import {
  connectPushClient,
  keysOf,
  untilServing,
  type ConnectedPushClient,
  type ConnectedPushClientOptions,
} from '../support/push/connected-push-client.ts';

/** The first wait between two attempts is random, and not longer than this. */
const LONGEST_FIRST_RETRY_MS = 500;
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

describe('A controller and its proxies', () => {
  test('all proxies serve the published snapshot', async () => {
    const world = keep(await startPushWorld());
    const publication = world.lead(aLeadership(1));
    const proxies = await Promise.all(['a', 'b', 'c'].map((id) => startProxy(world, id)));
    publication.publish({ put: RESOURCES, deleted: [] });
    await eventually(
      'all proxies serve it',
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

  test('every leader knows what proxies found out about upstreams', async () => {
    const world = keep(await startPushWorld());
    const upstreamAuth = new UpstreamAuthJournal();
    const key = 'route/default/route-0';
    upstreamAuth.report('default/route-0', {
      ...{ kind: 'failure', reason: 'upstream-auth-no-pkce' },
      message: 'as.example.com does not list S256',
    });
    const first = aLeadership(1);
    const publication = world.lead(first);
    const proxy = await startProxy(world, 'a', { upstreamAuth });
    publication.publish({ put: RESOURCES, deleted: [] });
    await untilServing(proxy, publication.version);
    await eventually('the report', () => publication.upstreamAuth(key) !== undefined);

    expect(publication.upstreamAuth(key)).toMatchObject({
      failure: {
        reason: 'upstream-auth-no-pkce',
        message: 'as.example.com does not list S256',
      },
    });

    first.end();
    const next = world.lead(aLeadership(2));
    await eventually('the report again', () => next.upstreamAuth(key) !== undefined);

    expect(next.upstreamAuth(key)).toMatchObject({ failure: { reason: 'upstream-auth-no-pkce' } });
  });

  test('what upstreams say about themselves ends no stream, however long it is', async () => {
    const world = keep(await startPushWorld());
    const upstreamAuth = new UpstreamAuthJournal();
    const quotes = '"'.repeat(LONGEST_PROXY_LINE_BYTES / 4);
    for (const route of ['default/route-0', 'default/route-1', 'default/route-2']) {
      const message = `the metadata are about ${quotes}`;
      const reason = 'upstream-auth-resource-mismatch';
      upstreamAuth.report(route, { kind: 'failure', reason, message });
    }
    const publication = world.lead(aLeadership(1));
    const proxy = await startProxy(world, 'a', { upstreamAuth });
    publication.publish({ put: RESOURCES, deleted: [] });
    await untilServing(proxy, publication.version);
    const key = 'route/default/route-2';
    await eventually('the reports', () => publication.upstreamAuth(key) !== undefined);

    expect(publication.upstreamAuth(key)).toMatchObject({
      failure: { message: expect.stringMatching(/^the metadata are about "+…$/) },
    });
  });

  test('unchanged resources stay the same objects', async () => {
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

  test('under a new leader, a proxy keeps earlier resources except those that lost their address', async () => {
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
    await eventually('the first snapshot serves', () => picky.client.serving !== undefined);
    const lost = pushedRoute('route-3').value as CompiledRoute;
    const thief = hashResource('route/other/thief', { ...lost, name: 'other/thief' });
    world.lead(aLeadership(2)).publish({ put: [...RESOURCES, ...bad, thief], deleted: [] });
    await eventually(
      'the second snapshot serves',
      () => picky.client.serving?.position.epoch === 2,
    );

    const { resources } = picky.client.serving?.snapshot ?? fail();
    expect(resources.get('route/default/route-1')).toEqual(pushedRoute('route-1'));
    expect(resources.has('route/default/route-3')).toBe(false);
    expect(resources.get(thief.key)).toEqual(thief);
  });

  test('a proxy serves everything but the resources that it rejects', async () => {
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
      'one resource is rejected, and the others are served',
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
    await eventually('the rest of the snapshot serves', () => picky.client.serving !== undefined);
    expect(keysOf(picky)).toEqual(keysOf(easy).filter((key) => !refused.includes(key)));
    expect(keysOf(easy)).toEqual(expect.arrayContaining(refused));
  });

  test('the controller refuses a connection with the token of another proxy', async () => {
    const world = keep(await startPushWorld());
    world.lead(aLeadership(1)).publish({ put: RESOURCES, deleted: [] });
    const stranger = await startProxy(world, 'a', { token: 'token-of-b' });
    const proxy = await startProxy(world, 'c');
    await eventually('the other proxy has a snapshot', () => proxy.applied.length > 0);

    expect(stranger.applied).toEqual([]);
  });

  test('a proxy reconnects when its connection is silently dead', async () => {
    const world = keep(await startPushWorld());
    const relay = keep(await startTcpRelay(world.port));
    const publication = world.lead(aLeadership(1));
    const clock = new ManualClock();
    const proxy = await startProxy(world, 'a', { port: relay.port, clock });
    publication.publish({ put: RESOURCES, deleted: [] });
    await untilServing(proxy, publication.version);
    relay.freeze();
    publication.publish({ put: [pushedRoute('new')], deleted: [] });
    // A frame that was already on its way can end the silence, so the clock moves until it is long enough.
    await eventually('the proxy notices', async () => {
      await clock.advance(PUSH_CLIENT_TIMING.pingMs);
      return !proxy.client.isConnected;
    });
    await eventually('the proxy is connected again', async () => {
      await clock.advance(LONGEST_FIRST_RETRY_MS);
      return proxy.client.isConnected;
    });

    await untilServing(proxy, publication.version);
    expect(keysOf(proxy)).toContain('route/default/new');
  });

  test('proxies receive a snapshot of thousands of routes', async () => {
    const world = keep(await startPushWorld());
    const publication = world.lead(aLeadership(1));
    const proxies = await Promise.all(['a', 'b', 'c'].map((id) => startProxy(world, id)));
    publication.publish({ put: [pushedSettings(), ...pushedRoutes(3000)], deleted: [] });
    await Promise.all(proxies.map((proxy) => untilServing(proxy, publication.version)));

    expect(proxies.map((proxy) => keysOf(proxy).length)).toEqual([3001, 3001, 3001]);
  });
});

function fail(): never {
  throw new Error('there is no resource');
}
