import { describe, expect, it } from '@jest/globals';

import type { NackError } from '../../../../shared/snapshot/push-frames.ts';
import { eventually } from '../../../support/eventually.ts';
import type { ProbeAnswer, ReceivedSnapshot } from '../../../support/push/push-probe.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

const A = 'route/default/a';
const B = 'route/default/b';

/** Refuses the resource with this hash, whatever it is under. */
function refusing(...hashes: readonly string[]): (received: ReceivedSnapshot) => ProbeAnswer {
  return ({ snapshot }) => {
    const errors = [...snapshot.resources.values()]
      .filter(({ hash }) => hashes.includes(hash))
      .map(({ key }) => invalid(key));
    return errors.length === 0 ? 'ack' : errors;
  };
}

function invalid(k: string): NackError {
  return { k, reason: 'InvalidResource', message: 'not supported here' };
}

describe('acknowledgements', () => {
  it('make a resource programmed once every proxy has it, and tell of it', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    expect(publication.programming(A)).toBeUndefined();
    publication.publish({ put: [pushedRoute('a'), pushedRoute('b')], deleted: [] });
    expect(publication.programming(A)).toEqual({ kind: 'no-proxies' });
    const waiting: ReceivedSnapshot[] = [];
    await world.connect({ id: 'proxy-0' });
    const late = await world.connect({
      id: 'proxy-1',
      answer: (received) => {
        if (received.position.sequence === 1) return 'ack';
        waiting.push(received);
        return 'silence';
      },
    });
    await eventually('both', () => publication.proxies.every(({ isSynced }) => isSynced));
    expect(publication.programming(A)).toEqual({ kind: 'programmed' });
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('one of two', () => {
      const programming = publication.programming(A);
      return programming?.kind === 'pending' && programming.acknowledged === 1;
    });
    expect(publication.programming(A)).toEqual({ kind: 'pending', acknowledged: 1, proxies: 2 });
    expect(publication.programming(B)).toEqual({ kind: 'programmed' });
    await eventually('the second', () => waiting.length === 1);
    const told = world.changes.length;
    for (const received of waiting) late.acknowledge(received);
    await eventually('both again', () => publication.programming(A)?.kind === 'programmed');
    await eventually('a word of it', () => world.changes.length > told);
    expect(world.changes.slice(told)).toContainEqual(new Set([A]));
  });

  it('count from the first on, and for a while after the proxy is gone', async () => {
    await using world = await startPushWorld({ timing: { leaveMs: 300 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await world.connect({ id: 'proxy-0' });
    await eventually('the first', () => publication.programming(A)?.kind === 'programmed');
    const starting = await world.connect({ id: 'proxy-1', answer: () => 'silence' });
    await eventually('another', () => starting.received.length === 1);
    expect(publication.programming(A)).toEqual({ kind: 'programmed' });
    starting.received.forEach((received) => starting.acknowledge(received));
    await eventually('both', () => publication.proxies.every(({ isSynced }) => isSynced));
    await starting[Symbol.asyncDispose]();
    await eventually('its end', () => publication.proxies.some((each) => !each.isConnected));
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('one of two', () => {
      const programming = publication.programming(A);
      return programming?.kind === 'pending' && programming.acknowledged === 1;
    });
    await eventually('one of one', () => publication.programming(A)?.kind === 'programmed');
    expect(publication.proxies.map(({ id }) => id)).toEqual(['proxy-0']);
    await eventually('a word of it', () =>
      world.changes.some((keys) => keys !== 'all' && keys.has(A)),
    );
  });

  it('of a proxy that drains do not count', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    proxy.send({ t: 'status', ready: true, draining: false, conns: 1 });
    await eventually('ready', () => publication.proxies[0]?.isReady === true);
    await eventually('programmed', () => publication.programming(A)?.kind === 'programmed');
    proxy.send({ t: 'status', ready: false, draining: true, conns: 1 });
    await eventually('draining', () => publication.programming(A)?.kind === 'no-proxies');
    expect(publication.proxies).toMatchObject([{ isReady: false, isDraining: true }]);
  });
});

describe('a resource that a proxy refuses', () => {
  it('is withheld from all, and what was there before serves on', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    const others = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({ id: 'proxy-1', answer: refusing(bad.hash) });
    publication.publish({
      put: [pushedSettings(), ...pushedRoutes(30), pushedRoute('a')],
      deleted: [],
    });
    await eventually('the first', () => publication.programming(A)?.kind === 'programmed');
    publication.publish({ put: [bad, pushedRoute('b')], deleted: [] });
    await eventually('all but that', () =>
      [others, picky].every(({ serving }) => serving?.snapshot.version === publication.version),
    );
    expect(publication.programming(A)).toEqual({
      kind: 'rejected',
      proxy: 'proxy-1',
      message: 'not supported here',
    });
    for (const { serving } of [others, picky]) {
      expect(serving?.snapshot.resources.get(A)).toEqual(pushedRoute('a'));
      expect(serving?.snapshot.resources.get(B)).toEqual(pushedRoute('b'));
    }
    await eventually('programmed', () => publication.programming(B)?.kind === 'programmed');
    await eventually('a word of it', () =>
      world.changes.some((keys) => keys !== 'all' && keys.has(A)),
    );
    publication.publish({ put: [pushedRoute('a', 3)], deleted: [] });
    await eventually('another content', () => publication.programming(A)?.kind === 'programmed');
  });

  it('is left out when there was nothing before', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a');
    publication.publish({ put: [bad, ...pushedRoutes(30)], deleted: [] });
    const picky = await world.connect({ id: 'proxy-0', answer: refusing(bad.hash) });
    await eventually('the rest', () => picky.serving?.snapshot.resources.size === 30);
    expect(publication.programming(A)).toMatchObject({ kind: 'rejected', proxy: 'proxy-0' });
    expect(picky.received).toHaveLength(2);
  });

  it('is tried again when those who refused it are gone', async () => {
    await using world = await startPushWorld({ timing: { leaveMs: 50 } });
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({ id: 'proxy-1', answer: refusing(bad.hash) });
    await eventually('the first', () => publication.proxies.every(({ isSynced }) => isSynced));
    publication.publish({ put: [bad], deleted: [] });
    await eventually('a refusal', () => publication.programming(A)?.kind === 'rejected');
    await picky[Symbol.asyncDispose]();
    await eventually('another try', () => publication.programming(A)?.kind === 'programmed');
    expect(other.serving?.snapshot.resources.get(A)).toEqual(bad);
  });

  it('does not bring back another that was refused too', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const [first, second] = [pushedRoute('a', 1), pushedRoute('a', 2)];
    publication.publish({ put: [first, pushedRoute('b')], deleted: [] });
    publication.publish({ put: [second], deleted: [] });
    const picky = await world.connect({ id: 'proxy-0', answer: refusing(first.hash, second.hash) });
    await eventually('the rest', () => picky.serving !== undefined);
    expect([...(picky.serving?.snapshot.resources.keys() ?? [])]).toEqual([B]);
    expect(publication.programming(A)).toMatchObject({ kind: 'rejected' });
  });

  it('may be the settings: the last ones that were good stay', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedSettings('other');
    publication.publish({ put: [pushedSettings(), pushedRoute('a')], deleted: [] });
    const picky = await world.connect({ id: 'proxy-0', answer: refusing(bad.hash) });
    await eventually('the first', () => picky.serving !== undefined);
    publication.publish({ put: [bad, pushedRoute('b')], deleted: [] });
    await eventually('the rest', () => picky.serving?.snapshot.version === publication.version);
    expect(picky.serving?.snapshot.resources.get('settings')).toEqual(pushedSettings());
    expect(publication.programming('settings')).toMatchObject({ kind: 'rejected' });
  });

  it('is not one of many: who refuses everything takes nothing away from others', async () => {
    await using world = await startPushWorld({ timing: { retryMs: 100_000 } });
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
    expect(publication.programming('route/default/route-1')).toEqual({ kind: 'programmed' });
    expect(alien.received).toHaveLength(1);
    const report = publication.proxies.find(({ id }) => id === 'proxy-1');
    expect(report?.errors).toHaveLength(100);
  });
});

describe('a snapshot that a proxy refuses as a whole', () => {
  it('is sent again, ever more rarely', async () => {
    await using world = await startPushWorld({ timing: { retryMs: 40 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const times: number[] = [];
    await world.connect({
      id: 'proxy-0',
      answer: () => {
        times.push(performance.now());
        return [{ k: '', reason: 'InvalidResource', message: 'cannot' }];
      },
    });
    await eventually('four attempts', () => times.length === 4);
    const [first = 0, , third = 0, fourth = 0] = times;
    expect(third - first).toBeGreaterThan(100);
    expect(fourth - third).toBeGreaterThan(140);
    expect(publication.position.sequence).toBe(1);
    expect(world.logger.messages('error')).toContain('proxy refuses the whole snapshot');
  });

  it('is sent again sooner when its content changes', async () => {
    await using world = await startPushWorld({ timing: { retryMs: 20, longestRetryMs: 100_000 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({
      id: 'proxy-0',
      answer: ({ position }) =>
        position.sequence > 1 ? 'ack' : [{ k: '', reason: 'InvalidResource', message: 'cannot' }],
    });
    await eventually('six attempts', () => proxy.received.length === 6);
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('an acknowledgement', () => proxy.serving !== undefined);
    expect(proxy.received).toHaveLength(7);
  });

  it.each(['UnknownBase', 'BrokenSnapshot'] as const)(
    'is sent in full at once after %s',
    async (reason) => {
      await using world = await startPushWorld({ timing: { retryMs: 100_000 } });
      const publication = world.lead(aLeadership(1));
      publication.publish({ put: pushedRoutes(3), deleted: [] });
      const proxy = await world.connect({
        id: 'proxy-0',
        answer: ({ base }) => (base === null ? 'ack' : [{ k: '', reason, message: 'what?' }]),
      });
      await eventually('the first', () => proxy.serving !== undefined);
      publication.publish({ put: [pushedRoute('a')], deleted: [] });
      await eventually('the second', () => proxy.serving?.position.sequence === 2);
      expect(proxy.received.map(({ base }) => base === null)).toEqual([true, false, true]);
    },
  );
});

describe('a slow proxy', () => {
  it('is told of once, is not ready, and does not count as synced', async () => {
    await using world = await startPushWorld({ timing: { slowMs: 50 } });
    const publication = world.lead(aLeadership(1));
    const waiting: ReceivedSnapshot[] = [];
    const slow = await world.connect({
      id: 'proxy-0',
      answer: (received) => {
        if (received.position.sequence === 1) return 'ack';
        waiting.push(received);
        return 'silence';
      },
    });
    slow.send({ t: 'status', ready: true, draining: false, conns: 0 });
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await eventually('ready', () => publication.proxies[0]?.isReady === true);
    await eventually('synced', () => publication.proxies[0]?.isSynced === true);
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('not ready', () => publication.proxies[0]?.isReady === false);
    for (let generation = 3; generation < 20; generation += 1) {
      publication.publish({ put: [pushedRoute('a', generation)], deleted: [] });
    }
    await eventually('a word of it', () =>
      world.changes.some((keys) => keys !== 'all' && keys.has(A)),
    );
    expect(publication.proxies).toMatchObject([{ isConnected: true, isSynced: false }]);
    expect(world.logger.messages('warn')).toEqual(['proxy is slow to answer a snapshot']);
    for (const received of waiting) slow.acknowledge(received);
    await eventually('ready again', () => publication.proxies[0]?.isReady === true);
  });
});
