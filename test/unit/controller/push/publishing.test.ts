import { describe, expect, it } from '@jest/globals';

import { snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import { eventually } from '../../../support/eventually.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../../../support/push/push-resources.ts';
import type { ReceivedSnapshot } from '../../../support/push/push-probe.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

describe('the publication of a leadership', () => {
  it('sends a proxy without a snapshot the whole snapshot', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(7));
    const resources = [pushedSettings(), ...pushedRoutes(450)];
    publication.publish({ put: resources, deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('a snapshot', () => proxy.serving !== undefined);
    expect(proxy.serving?.position).toEqual({ epoch: 7, sequence: 1 });
    expect(proxy.serving?.snapshot).toEqual(snapshotOf(resources));
    expect(publication.version).toBe(snapshotOf(resources).version);
    expect(proxy.received[0]?.base).toBeNull();
  });

  it('sends no snapshot before the first is published, which may be empty', async () => {
    await using world = await startPushWorld({ timing: { pingMs: 20 } });
    const publication = world.lead(aLeadership(1));
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('pings', () => proxy.frames.length > 2);
    expect(new Set(proxy.frames.map(({ t }) => t))).toEqual(new Set(['ping']));
    expect(publication.publishedAt).toBeUndefined();
    publication.publish({ put: [], deleted: [] });
    await eventually('a snapshot', () => proxy.serving?.position.sequence === 1);
    expect(proxy.serving?.snapshot.resources.size).toBe(0);
  });

  it('sends only what changed', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const proxy = await world.connect({ id: 'proxy-0' });
    publication.publish({ put: [pushedSettings(), ...pushedRoutes(20)], deleted: [] });
    await eventually('the first', () => proxy.serving?.position.sequence === 1);
    publication.publish({
      put: [pushedRoute('route-3', 2), pushedRoute('more'), pushedRoute('route-4')],
      deleted: ['route/default/route-5', 'route/default/unknown'],
    });
    await eventually('the second', () => proxy.serving?.position.sequence === 2);
    expect(proxy.received[1]?.base).toBe(proxy.received[0]?.snapshot.version);
    expect([...(proxy.received[1]?.changed ?? [])].sort()).toEqual([
      'route/default/more',
      'route/default/route-3',
      'route/default/route-5',
    ]);
    expect(proxy.serving?.snapshot.version).toBe(publication.version);
  });

  it('makes no revision if nothing changed', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    publication.publish({ put: [pushedRoute('a')], deleted: ['route/default/b'] });
    expect(publication.position.sequence).toBe(1);
  });

  it('merges what changes while a proxy is busy, and leaves out what changed back', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const waiting: ReceivedSnapshot[] = [];
    const proxy = await world.connect({
      id: 'proxy-0',
      answer: (received) => {
        waiting.push(received);
        return 'silence';
      },
    });
    publication.publish({ put: [pushedRoute('a'), pushedRoute('b')], deleted: [] });
    await eventually('the first', () => waiting.length === 1);
    for (const generation of [2, 3, 4]) {
      publication.publish({ put: [pushedRoute('a', generation)], deleted: [] });
    }
    publication.publish({ put: [pushedRoute('b', 2), pushedRoute('c')], deleted: [] });
    publication.publish({ put: [pushedRoute('b')], deleted: ['route/default/c'] });
    expect(proxy.received).toHaveLength(1);
    const [first] = waiting;
    if (first !== undefined) proxy.acknowledge(first);
    await eventually('the second', () => proxy.received.length === 2);
    expect(proxy.received[1]?.position.sequence).toBe(6);
    expect([...(proxy.received[1]?.changed ?? [])]).toEqual(['route/default/a']);
  });

  it('sends the whole snapshot to a proxy whose revision is forgotten', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: pushedRoutes(3), deleted: [] });
    await using before = await world.connect({ id: 'proxy-0' });
    await eventually('the first', () => before.serving !== undefined);
    const { serving } = before;
    await before[Symbol.asyncDispose]();
    for (let generation = 2; generation < 40; generation += 1) {
      publication.publish({ put: [pushedRoute('route-1', generation)], deleted: [] });
    }
    const soon = await world.connect({ id: 'proxy-0', serving });
    await eventually('a change', () => soon.received.length === 1);
    expect(soon.received[0]?.base).toBe(serving?.snapshot.version);
    for (let generation = 40; generation < 80; generation += 1) {
      publication.publish({ put: [pushedRoute('route-1', generation)], deleted: [] });
    }
    const late = await world.connect({ id: 'proxy-1', serving });
    await eventually('all of it', () => late.received.length === 1);
    expect(late.received[0]?.base).toBeNull();
    expect(late.serving?.snapshot.version).toBe(publication.version);
  });

  it('sends nothing to a proxy that reconnects with the newest snapshot', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: pushedRoutes(3), deleted: [] });
    const before = await world.connect({ id: 'proxy-0' });
    await eventually('the first', () => before.serving !== undefined);
    await before[Symbol.asyncDispose]();
    const back = await world.connect({ id: 'proxy-0', serving: before.serving });
    expect(publication.rolloutState('route/default/route-1')).toEqual({ kind: 'programmed' });
    publication.publish({ put: [pushedRoute('route-1', 2)], deleted: [] });
    await eventually('the second', () => back.serving?.position.sequence === 2);
    expect(back.received).toHaveLength(1);
  });

  it('sends a proxy of an earlier leadership only the new position if the content is the same', async () => {
    await using world = await startPushWorld();
    const resources = pushedRoutes(300);
    const first = aLeadership(3);
    world.lead(first).publish({ put: resources, deleted: [] });
    const before = await world.connect({ id: 'proxy-0' });
    await eventually('a snapshot', () => before.serving !== undefined);
    first.end();
    await eventually('the end', () => before.isDisconnected);
    const publication = world.lead(aLeadership(4));
    const after = await world.connect({ id: 'proxy-0', serving: before.serving });
    expect(publication.routesBefore).toBe(300);
    publication.publish({ put: resources, deleted: [] });
    await eventually('a position', () => after.serving?.position.epoch === 4);
    expect(after.received[0]).toMatchObject({ base: before.serving?.snapshot.version });
    expect(after.received[0]?.changed.size).toBe(0);
  });

  it('brings every proxy to the same snapshot, whatever changes meanwhile', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: pushedRoutes(1000), deleted: [] });
    const proxies = await Promise.all(
      ['a', 'b', 'c'].map((id) => world.connect({ id: `proxy-${id}` })),
    );
    for (let generation = 2; generation < 60; generation += 1) {
      const name = `route-${String((generation * 37) % 100)}`;
      const gone = `route/default/route-${String(100 + generation)}`;
      publication.publish({ put: [pushedRoute(name, generation)], deleted: [gone] });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually('the newest everywhere', () =>
      proxies.every(({ serving }) => serving?.snapshot.version === publication.version),
    );
    await eventually('synced', () => publication.proxies.every(({ isSynced }) => isSynced));
    expect(publication.proxies.map(({ id }) => id)).toEqual(['proxy-a', 'proxy-b', 'proxy-c']);
    expect(publication.position.sequence).toBe(59);
  });
});
