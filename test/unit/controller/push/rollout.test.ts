import { describe, expect, it } from '@jest/globals';

import { PUSH_TIMING } from '../../../../controller/push/push-timing.ts';
import { snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import { LONGEST_CONTROLLER_LINE_BYTES } from '../../../../shared/snapshot/push-frames.ts';
import { hashResource } from '../../../../shared/snapshot/hash-resource.ts';
import type { CompiledRoute, SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import type { PushProbe, ReceivedSnapshot } from '../../../support/push/push-probe.ts';
import { pushedRoute } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld, type PushWorld } from '../../../support/push/push-world.ts';

const A = 'route/default/a';
const B = 'route/default/b';
/** Beyond the time that a test lets pass. */
const NEVER_MS = 1_000_000_000;

/** A route with at least that many bytes of content. */
function hugeRoute(name: string, bytes: number): SnapshotResource {
  const { key, value } = pushedRoute(name);
  const upstream = `http://${'a'.repeat(bytes)}`;
  return hashResource(key, { ...(value as CompiledRoute), upstream });
}

/** Connects a proxy that acknowledges the first snapshot, and leaves all others unanswered. */
async function connectSlow(
  world: PushWorld,
  id: string,
): Promise<{ readonly proxy: PushProbe; readonly waiting: readonly ReceivedSnapshot[] }> {
  const waiting: ReceivedSnapshot[] = [];
  const proxy = await world.connect({
    id,
    answer: (received) => {
      if (received.position.sequence === 1) return 'ack';
      waiting.push(received);
      return 'silence';
    },
  });
  return { proxy, waiting };
}

describe('the rollout of a resource', () => {
  it('is reported once every proxy has acknowledged the resource', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    expect(publication.rolloutState(A)).toBeUndefined();
    publication.publish({ put: [pushedRoute('a'), pushedRoute('b')], deleted: [] });
    expect(publication.rolloutState(A)).toEqual({ kind: 'no-proxies' });
    await world.connect({ id: 'proxy-0' });
    const { proxy: late, waiting } = await connectSlow(world, 'proxy-1');
    await eventually('both', () => publication.proxies.every(({ isSynced }) => isSynced));
    expect(publication.rolloutState(A)).toEqual({ kind: 'programmed' });
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('one of two', () => {
      const state = publication.rolloutState(A);
      return state?.kind === 'pending' && state.acknowledged === 1;
    });
    expect(publication.rolloutState(A)).toEqual({ kind: 'pending', acknowledged: 1, proxies: 2 });
    expect(publication.rolloutState(B)).toEqual({ kind: 'programmed' });
    await eventually('the second', () => waiting.length === 1);
    const told = world.changes.length;
    for (const received of waiting) late.acknowledge(received);
    await eventually('both again', () => publication.rolloutState(A)?.kind === 'programmed');
    await eventually('a report of it', () => world.changes.length > told);
    expect(world.changes.slice(told)).toContainEqual(new Set([A]));
  });

  it('waits for a proxy from its first acknowledgement until a while after it disconnected', async () => {
    const clock = new ManualClock();
    await using world = await startPushWorld({ clock, timing: { pingMs: NEVER_MS } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await world.connect({ id: 'proxy-0' });
    await eventually('the first', () => publication.rolloutState(A)?.kind === 'programmed');
    const starting = await world.connect({ id: 'proxy-1', answer: () => 'silence' });
    await eventually('a snapshot', () => starting.received.length === 1);
    expect(publication.rolloutState(A)).toEqual({ kind: 'programmed' });
    starting.received.forEach((received) => starting.acknowledge(received));
    await eventually('both', () => publication.proxies.every(({ isSynced }) => isSynced));
    await starting[Symbol.asyncDispose]();
    await eventually('its end', () => publication.proxies.some((each) => !each.isConnected));
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('one of two', () => {
      const state = publication.rolloutState(A);
      return state?.kind === 'pending' && state.acknowledged === 1;
    });
    await clock.advance(PUSH_TIMING.leaveMs - 1);
    expect(publication.rolloutState(A)?.kind).toBe('pending');
    await clock.advance(1);
    expect(publication.rolloutState(A)?.kind).toBe('programmed');
    expect(publication.proxies.map(({ id }) => id)).toEqual(['proxy-0']);
    await eventually('a report of it', () =>
      world.changes.some((keys) => keys !== 'all' && keys.has(A)),
    );
  });

  it('does not wait for a proxy that drains', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    proxy.send({ t: 'status', ready: true, draining: false, conns: 1 });
    await eventually('ready', () => publication.proxies[0]?.isReady === true);
    await eventually('programmed', () => publication.rolloutState(A)?.kind === 'programmed');
    proxy.send({ t: 'status', ready: false, draining: true, conns: 1 });
    await eventually('draining', () => publication.rolloutState(A)?.kind === 'no-proxies');
    expect(publication.proxies).toMatchObject([{ isReady: false, isDraining: true }]);
  });
});

describe('a resource that is too large to publish', () => {
  it('is withheld, and the content before it stays published', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const proxy = await world.connect({ id: 'proxy-0' });
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await eventually('the first', () => publication.rolloutState(A)?.kind === 'programmed');
    for (const bytes of [LONGEST_CONTROLLER_LINE_BYTES, 2 * LONGEST_CONTROLLER_LINE_BYTES]) {
      publication.publish({ put: [hugeRoute('a', bytes), pushedRoute('b')], deleted: [] });
    }
    await eventually('the other', () => publication.rolloutState(B)?.kind === 'programmed');
    expect(proxy.serving?.snapshot).toEqual(snapshotOf([pushedRoute('a'), pushedRoute('b')]));
    expect(publication.rolloutState(A)).toEqual({
      kind: 'rejected',
      message: expect.stringContaining('too large'),
    });
    expect(world.logger.messages('error')).toEqual(['resource is too large to publish']);

    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('it is smaller', () => publication.rolloutState(A)?.kind === 'programmed');
    expect(proxy.serving?.snapshot).toEqual(snapshotOf([pushedRoute('a', 2), pushedRoute('b')]));
  });
});

describe('a slow proxy', () => {
  it('is logged once, is not ready, and is not synced', async () => {
    await using world = await startPushWorld({ timing: { slowMs: 50 } });
    const publication = world.lead(aLeadership(1));
    const { proxy: slow, waiting } = await connectSlow(world, 'proxy-0');
    slow.send({ t: 'status', ready: true, draining: false, conns: 0 });
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await eventually('ready', () => publication.proxies[0]?.isReady === true);
    await eventually('synced', () => publication.proxies[0]?.isSynced === true);
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('not ready', () => publication.proxies[0]?.isReady === false);
    for (let generation = 3; generation < 20; generation += 1) {
      publication.publish({ put: [pushedRoute('a', generation)], deleted: [] });
    }
    await eventually('a report of it', () =>
      world.changes.some((keys) => keys !== 'all' && keys.has(A)),
    );
    expect(publication.proxies).toMatchObject([{ isConnected: true, isSynced: false }]);
    expect(world.logger.messages('warn')).toEqual(['proxy is slow to answer a snapshot']);
    for (const received of waiting) slow.acknowledge(received);
    await eventually('ready again', () => publication.proxies[0]?.isReady === true);
  });
});
