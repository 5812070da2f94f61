import { describe, expect, it } from '@jest/globals';

import { PUSH_TIMING } from '../../../../controller/push/push-timing.ts';
import { hashResource, snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import type { RejectedEntry } from '../../../../shared/snapshot/push-frames.ts';
import { aCompiledService } from '../../../support/compiled-resources.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import type { ProbeAnswer, ReceivedSnapshot } from '../../../support/push/push-probe.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';
import { aFullRoute, resourcesOf } from '../../../support/push/some-resources.ts';

const A = 'route/default/a';
const B = 'route/default/b';
/** Beyond the time that a test lets pass. */
const NEVER_MS = 1_000_000_000;

/** Rejects the resources with these hashes, under whatever keys. */
function rejecting(...hashes: readonly string[]): (received: ReceivedSnapshot) => ProbeAnswer {
  return ({ snapshot }) => {
    const errors = [...snapshot.resources.values()]
      .filter(({ hash }) => hashes.includes(hash))
      .map(({ key }) => invalid(key));
    return errors.length === 0 ? 'ack' : errors;
  };
}

function invalid(key: string): RejectedEntry {
  return { key, reason: 'InvalidResource', message: 'not supported here' };
}

describe('a resource that a proxy rejects', () => {
  it('is withheld from that proxy alone, which keeps serving the content before it', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({ id: 'proxy-1', answer: rejecting(bad.hash) });
    publication.publish({ put: [pushedSettings(), pushedRoute('a')], deleted: [] });
    await eventually('the first', () => publication.rolloutState(A)?.kind === 'programmed');
    publication.publish({ put: [bad, pushedRoute('b')], deleted: [] });
    await eventually('the second', () =>
      [other, picky].every(({ serving }) => serving?.position.sequence === 2),
    );
    expect(other.serving?.snapshot.resources.get(A)).toEqual(bad);
    expect(picky.serving?.snapshot.resources.get(A)).toEqual(pushedRoute('a'));
    expect(picky.serving?.snapshot.resources.get(B)).toEqual(pushedRoute('b'));
    await eventually('its status', () => publication.rolloutState(B)?.kind === 'programmed');
    expect(publication.rolloutState(A)).toEqual({
      kind: 'rejected',
      proxy: 'proxy-1',
      message: 'not supported here',
    });
    expect(publication.proxies.map(({ isSynced }) => isSynced)).toEqual([true, false]);
    publication.publish({ put: [pushedRoute('a', 3)], deleted: [] });
    await eventually('a changed content', () => publication.rolloutState(A)?.kind === 'programmed');
    expect(picky.serving?.snapshot.version).toBe(publication.version);
    expect(picky.received.every(({ base }, index) => index === 0 || base !== null)).toBe(true);
  });

  it('stays with the proxies that accepted it before another rejected it', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({
      put: [pushedSettings(), pushedRoute('a'), pushedRoute('b')],
      deleted: [],
    });
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({
      id: 'proxy-1',
      answer: rejecting(pushedRoute('a').hash),
    });
    await eventually('the rest', () => picky.serving?.snapshot.resources.size === 2);
    expect(other.received).toHaveLength(1);
    expect(other.serving?.snapshot.resources.has(A)).toBe(true);
    expect(publication.rolloutState(A)).toMatchObject({ kind: 'rejected', proxy: 'proxy-1' });
  });

  it('is replaced by what the proxy served under another leader', async () => {
    await using world = await startPushWorld();
    const bad = pushedRoute('a', 2);
    const before = snapshotOf([pushedSettings(), pushedRoute('a'), pushedRoute('gone')]);
    const publication = world.lead(aLeadership(2));
    publication.publish({ put: [pushedSettings(), bad, pushedRoute('b')], deleted: [] });
    const proxy = await world.connect({
      id: 'proxy-0',
      serving: { position: { epoch: 1, sequence: 7 }, snapshot: before },
      answer: rejecting(bad.hash),
    });
    await eventually('the newest', () => proxy.serving?.position.epoch === 2);
    expect(proxy.serving?.snapshot).toEqual(
      snapshotOf([pushedSettings(), pushedRoute('a'), pushedRoute('b')]),
    );
    expect(proxy.frames.filter(({ t }) => t === 'keep')).toHaveLength(1);
  });

  it('is left out when the proxy cannot keep the content before it', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({
      id: 'proxy-0',
      answer: ({ position, snapshot }) =>
        position.sequence > 1 && snapshot.resources.has(A) ? [invalid(A)] : 'ack',
    });
    await eventually('the first', () => proxy.serving !== undefined);
    publication.publish({ put: [bad, pushedRoute('b')], deleted: [] });
    await eventually('the rest', () => proxy.serving?.position.sequence === 2);
    expect([...(proxy.serving?.snapshot.resources.keys() ?? [])]).toEqual([B]);
    expect(publication.rolloutState(A)).toMatchObject({ kind: 'rejected' });
  });

  it('is sent again to that proxy at growing intervals', async () => {
    const clock = new ManualClock();
    await using world = await startPushWorld({
      clock,
      timing: { pingMs: NEVER_MS, streamLifeMs: NEVER_MS },
    });
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    let rejections = 0;
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({
      id: 'proxy-1',
      answer: (received) => {
        const answer = rejections < 3 ? rejecting(bad.hash)(received) : 'ack';
        if (answer !== 'ack') rejections += 1;
        return answer;
      },
    });
    const isSettled = (): boolean =>
      publication.proxies.every(
        ({ position }) => position?.sequence === publication.position.sequence,
      );
    await eventually('the first', () => publication.proxies.length === 2 && isSettled());
    publication.publish({ put: [bad], deleted: [] });
    for (const [before, waitMs] of [1000, 2000, 4000].entries()) {
      await eventually('a rejection', () => rejections === before + 1 && isSettled());
      await clock.advance(waitMs - 1);
      expect(rejections).toBe(before + 1);
      // One millisecond for the retry, and the time in which later positions are batched.
      await clock.advance(1 + PUSH_TIMING.retryMs);
    }
    await eventually('the fourth try', () => publication.rolloutState(A)?.kind === 'programmed');
    expect(picky.serving?.snapshot.resources.get(A)).toEqual(bad);
    expect(other.received.filter(({ changed }) => changed.size > 0)).toHaveLength(2);
  });

  it('stays rejected when the proxy opens another stream', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    publication.publish({ put: [pushedSettings(), pushedRoute('a')], deleted: [] });
    const first = await world.connect({ id: 'proxy-0', answer: rejecting(bad.hash) });
    await eventually('the first', () => first.serving !== undefined);
    publication.publish({ put: [bad], deleted: [] });
    await eventually('the second', () => first.serving?.position.sequence === 2);
    const { serving } = first;
    const again = await world.connect({ id: 'proxy-0', serving, answer: rejecting(bad.hash) });
    const stranger = await world.connect({ id: 'proxy-1', serving });
    publication.publish({ put: [pushedRoute('b')], deleted: [] });
    await eventually('the third', () => again.serving?.snapshot.resources.has(B) === true);
    expect(again.received.map(({ base }) => base)).toEqual([serving?.snapshot.version]);
    await eventually('all of it', () => stranger.serving?.snapshot.version === publication.version);
    expect(publication.position.epoch).toBe(1);
  });

  it.each([
    ['settings', pushedSettings()],
    ['signing-keys', hashResource('signing-keys', { kind: 'signing-keys', keys: [] })],
  ])('keeps a proxy without %s from serving anything, and no other proxy', async (_, bad) => {
    await using world = await startPushWorld({ timing: { rejectionRetryMs: 20, retryMs: 10 } });
    const publication = world.lead(aLeadership(1));
    let isWilling = false;
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({
      id: 'proxy-1',
      answer: (received) => (isWilling ? 'ack' : rejecting(bad.hash)(received)),
    });
    publication.publish({ put: [bad, pushedRoute('a')], deleted: [] });
    await eventually('two tries', () => picky.received.length > 1);
    expect(picky.serving).toBeUndefined();
    expect(other.serving?.snapshot.version).toBe(publication.version);
    expect(publication.rolloutState(bad.key)).toMatchObject({ kind: 'rejected' });
    expect(publication.rolloutState(A)).toEqual({ kind: 'programmed' });
    isWilling = true;
    await eventually('another try', () => picky.serving !== undefined);
  });

  it('leaves a proxy the settings that it has', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedSettings('other');
    publication.publish({ put: [pushedSettings(), pushedRoute('a')], deleted: [] });
    const picky = await world.connect({ id: 'proxy-0', answer: rejecting(bad.hash) });
    await eventually('the first', () => picky.serving !== undefined);
    publication.publish({ put: [bad, pushedRoute('b')], deleted: [] });
    await eventually('the rest', () => picky.serving?.snapshot.resources.has(B) === true);
    expect(picky.serving?.snapshot.resources.get('settings')).toEqual(pushedSettings());
  });

  it('makes the routes to it rejected if it is a Service', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const [service, route] = resourcesOf(
      aCompiledService('team/app'),
      aFullRoute('team/a', { backends: [{ service: 'team/app', port: 80, weight: 1 }] }),
    );
    if (service === undefined || route === undefined) throw new Error('two resources');
    publication.publish({ put: [service, route, pushedRoute('b')], deleted: [] });
    await world.connect({ id: 'proxy-0', answer: rejecting(service.hash) });
    await eventually('the rest', () => publication.rolloutState(B)?.kind === 'programmed');
    expect(publication.rolloutState(route.key)).toMatchObject({ kind: 'rejected' });
    await eventually('a report of it', () =>
      world.changes.some((keys) => keys !== 'all' && keys.has(route.key) && keys.has(service.key)),
    );
  });

  it('is one of too many for a proxy that serves nothing, which is sent nothing', async () => {
    await using world = await startPushWorld({ timing: { rejectionRetryMs: 100_000 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: pushedRoutes(100), deleted: [] });
    const other = await world.connect({ id: 'proxy-0' });
    const alien = await world.connect({
      id: 'proxy-1',
      answer: ({ snapshot }) => [...snapshot.resources.keys()].map(invalid),
    });
    await eventually('an answer', () => alien.received.length === 1);
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await eventually('the newest', () => other.serving?.position.sequence === 2);
    expect(other.serving?.snapshot.resources.size).toBe(101);
    expect(alien.received).toHaveLength(1);
    const report = publication.proxies.find(({ id }) => id === 'proxy-1');
    expect(report?.rejected).toHaveLength(100);
  });

  it('is no longer rejected once the proxy has left', async () => {
    await using world = await startPushWorld({ timing: { leaveMs: 50 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({
      id: 'proxy-1',
      answer: rejecting(pushedRoute('a').hash),
    });
    await eventually('a rejection', () => publication.rolloutState(A)?.kind === 'rejected');
    await picky[Symbol.asyncDispose]();
    await eventually('its end', () => publication.rolloutState(A)?.kind !== 'rejected');
    expect(publication.rolloutState(A)).toEqual({ kind: 'programmed' });
  });
});
