import { describe, expect, it } from '@jest/globals';

import { hashResource, snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import {
  LONGEST_CONTROLLER_LINE_BYTES,
  type RejectedEntry,
} from '../../../../shared/snapshot/push-frames.ts';
import type { CompiledRoute, SnapshotResource } from '../../../../shared/snapshot/snapshot.ts';
import { aCompiledService } from '../../../support/compiled-resources.ts';
import { eventually } from '../../../support/eventually.ts';
import type { ProbeAnswer, PushProbe, ReceivedSnapshot } from '../../../support/push/push-probe.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld, type PushWorld } from '../../../support/push/push-world.ts';
import { aCompiledRoute, resourcesOf } from '../../../support/push/some-resources.ts';

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

function invalid(key: string): RejectedEntry {
  return { key, reason: 'InvalidResource', message: 'not supported here' };
}

/** A route whose content has that many bytes at least. */
function hugeRoute(name: string, bytes: number): SnapshotResource {
  const { key, value } = pushedRoute(name);
  const upstream = `http://${'a'.repeat(bytes)}`;
  return hashResource(key, { ...(value as CompiledRoute), upstream });
}

/** A proxy that acknowledges the first snapshot, and lets all others wait. */
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

describe('acknowledgements', () => {
  it('make a resource programmed once every proxy has it, and tell of it', async () => {
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
      const programming = publication.rolloutState(A);
      return programming?.kind === 'pending' && programming.acknowledged === 1;
    });
    expect(publication.rolloutState(A)).toEqual({ kind: 'pending', acknowledged: 1, proxies: 2 });
    expect(publication.rolloutState(B)).toEqual({ kind: 'programmed' });
    await eventually('the second', () => waiting.length === 1);
    const told = world.changes.length;
    for (const received of waiting) late.acknowledge(received);
    await eventually('both again', () => publication.rolloutState(A)?.kind === 'programmed');
    await eventually('a word of it', () => world.changes.length > told);
    expect(world.changes.slice(told)).toContainEqual(new Set([A]));
  });

  it('count from the first on, and for a while after the proxy is gone', async () => {
    await using world = await startPushWorld({ timing: { leaveMs: 300 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await world.connect({ id: 'proxy-0' });
    await eventually('the first', () => publication.rolloutState(A)?.kind === 'programmed');
    const starting = await world.connect({ id: 'proxy-1', answer: () => 'silence' });
    await eventually('another', () => starting.received.length === 1);
    expect(publication.rolloutState(A)).toEqual({ kind: 'programmed' });
    starting.received.forEach((received) => starting.acknowledge(received));
    await eventually('both', () => publication.proxies.every(({ isSynced }) => isSynced));
    await starting[Symbol.asyncDispose]();
    await eventually('its end', () => publication.proxies.some((each) => !each.isConnected));
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('one of two', () => {
      const programming = publication.rolloutState(A);
      return programming?.kind === 'pending' && programming.acknowledged === 1;
    });
    await eventually('one of one', () => publication.rolloutState(A)?.kind === 'programmed');
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
    await eventually('programmed', () => publication.rolloutState(A)?.kind === 'programmed');
    proxy.send({ t: 'status', ready: false, draining: true, conns: 1 });
    await eventually('draining', () => publication.rolloutState(A)?.kind === 'no-proxies');
    expect(publication.proxies).toMatchObject([{ isReady: false, isDraining: true }]);
  });
});

describe('a resource that is too large for a line', () => {
  it('is withheld, and what was there before serves on', async () => {
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

describe('a resource that a proxy refuses', () => {
  it('is withheld from that proxy alone, which goes on with what it had', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({ id: 'proxy-1', answer: refusing(bad.hash) });
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
    await eventually('another content', () => publication.rolloutState(A)?.kind === 'programmed');
    expect(picky.serving?.snapshot.version).toBe(publication.version);
    expect(picky.received.every(({ base }, index) => index === 0 || base !== null)).toBe(true);
  });

  it('stays with those that had it before another proxy came and refused it', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({
      put: [pushedSettings(), pushedRoute('a'), pushedRoute('b')],
      deleted: [],
    });
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({
      id: 'proxy-1',
      answer: refusing(pushedRoute('a').hash),
    });
    await eventually('the rest', () => picky.serving?.snapshot.resources.size === 2);
    expect(other.received).toHaveLength(1);
    expect(other.serving?.snapshot.resources.has(A)).toBe(true);
    expect(publication.rolloutState(A)).toMatchObject({ kind: 'rejected', proxy: 'proxy-1' });
  });

  it('is what the proxies go on with that had it under another leader', async () => {
    await using world = await startPushWorld();
    const bad = pushedRoute('a', 2);
    const before = snapshotOf([pushedSettings(), pushedRoute('a'), pushedRoute('gone')]);
    const publication = world.lead(aLeadership(2));
    publication.publish({ put: [pushedSettings(), bad, pushedRoute('b')], deleted: [] });
    const proxy = await world.connect({
      id: 'proxy-0',
      serving: { position: { epoch: 1, sequence: 7 }, snapshot: before },
      answer: refusing(bad.hash),
    });
    await eventually('the newest', () => proxy.serving?.position.epoch === 2);
    expect(proxy.serving?.snapshot).toEqual(
      snapshotOf([pushedSettings(), pushedRoute('a'), pushedRoute('b')]),
    );
    expect(proxy.frames.filter(({ t }) => t === 'keep')).toHaveLength(1);
  });

  it('is left out when what was there cannot go on', async () => {
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

  it('is sent again ever more rarely, and then to that proxy', async () => {
    await using world = await startPushWorld({
      timing: { retryMs: 10, rejectionRetryMs: 20, longestRejectionRetryMs: 80 },
    });
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    let refusals = 0;
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({
      id: 'proxy-1',
      answer: (received) => {
        const answer = refusals < 3 ? refusing(bad.hash)(received) : 'ack';
        if (answer !== 'ack') refusals += 1;
        return answer;
      },
    });
    await eventually('the first', () => publication.proxies.every(({ isSynced }) => isSynced));
    publication.publish({ put: [bad], deleted: [] });
    await eventually('the fourth try', () => publication.rolloutState(A)?.kind === 'programmed');
    expect(refusals).toBe(3);
    expect(picky.serving?.snapshot.resources.get(A)).toEqual(bad);
    expect(other.received.filter(({ changed }) => changed.size > 0)).toHaveLength(2);
  });

  it('stays what it is for a proxy that opens another stream', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedRoute('a', 2);
    publication.publish({ put: [pushedSettings(), pushedRoute('a')], deleted: [] });
    const first = await world.connect({ id: 'proxy-0', answer: refusing(bad.hash) });
    await eventually('the first', () => first.serving !== undefined);
    publication.publish({ put: [bad], deleted: [] });
    await eventually('the second', () => first.serving?.position.sequence === 2);
    const { serving } = first;
    const again = await world.connect({ id: 'proxy-0', serving, answer: refusing(bad.hash) });
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
  ])('and is the %s keeps a proxy that has none waiting, and no other', async (_, bad) => {
    await using world = await startPushWorld({ timing: { rejectionRetryMs: 20, retryMs: 10 } });
    const publication = world.lead(aLeadership(1));
    let isWilling = false;
    const other = await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({
      id: 'proxy-1',
      answer: (received) => (isWilling ? 'ack' : refusing(bad.hash)(received)),
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

  it('and is the settings leaves the proxy those it has', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const bad = pushedSettings('other');
    publication.publish({ put: [pushedSettings(), pushedRoute('a')], deleted: [] });
    const picky = await world.connect({ id: 'proxy-0', answer: refusing(bad.hash) });
    await eventually('the first', () => picky.serving !== undefined);
    publication.publish({ put: [bad, pushedRoute('b')], deleted: [] });
    await eventually('the rest', () => picky.serving?.snapshot.resources.has(B) === true);
    expect(picky.serving?.snapshot.resources.get('settings')).toEqual(pushedSettings());
  });

  it('and is a Service makes the routes to it rejected', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    const [service, route] = resourcesOf(
      aCompiledService('team/app'),
      aCompiledRoute('team/a', { backends: [{ service: 'team/app', port: 80, weight: 1 }] }),
    );
    if (service === undefined || route === undefined) throw new Error('two resources');
    publication.publish({ put: [service, route, pushedRoute('b')], deleted: [] });
    await world.connect({ id: 'proxy-0', answer: refusing(service.hash) });
    await eventually('the rest', () => publication.rolloutState(B)?.kind === 'programmed');
    expect(publication.rolloutState(route.key)).toMatchObject({ kind: 'rejected' });
    await eventually('a word of it', () =>
      world.changes.some((keys) => keys !== 'all' && keys.has(route.key) && keys.has(service.key)),
    );
  });

  it('is one of many: a proxy that has nothing yet gets nothing', async () => {
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

  it('counts no more when the proxy is gone', async () => {
    await using world = await startPushWorld({ timing: { leaveMs: 50 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    await world.connect({ id: 'proxy-0' });
    const picky = await world.connect({
      id: 'proxy-1',
      answer: refusing(pushedRoute('a').hash),
    });
    await eventually('a refusal', () => publication.rolloutState(A)?.kind === 'rejected');
    await picky[Symbol.asyncDispose]();
    await eventually('its end', () => publication.rolloutState(A)?.kind !== 'rejected');
    expect(publication.rolloutState(A)).toEqual({ kind: 'programmed' });
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
        return [{ key: '', reason: 'InvalidResource', message: 'cannot' }];
      },
    });
    await eventually('four attempts', () => times.length === 4);
    const [first = 0, , third = 0, fourth = 0] = times;
    expect(third - first).toBeGreaterThan(100);
    expect(fourth - third).toBeGreaterThan(140);
    expect(publication.position.sequence).toBe(1);
    expect(world.logger.messages('error')).toContain('proxy rejects the whole snapshot');
  });

  it('is sent again sooner when its content changes', async () => {
    await using world = await startPushWorld({ timing: { retryMs: 20, longestRetryMs: 100_000 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({
      id: 'proxy-0',
      answer: ({ position }) =>
        position.sequence > 1 ? 'ack' : [{ key: '', reason: 'InvalidResource', message: 'cannot' }],
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
        answer: ({ base }) => (base === null ? 'ack' : [{ key: '', reason, message: 'what?' }]),
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
    await eventually('a word of it', () =>
      world.changes.some((keys) => keys !== 'all' && keys.has(A)),
    );
    expect(publication.proxies).toMatchObject([{ isConnected: true, isSynced: false }]);
    expect(world.logger.messages('warn')).toEqual(['proxy is slow to answer a snapshot']);
    for (const received of waiting) slow.acknowledge(received);
    await eventually('ready again', () => publication.proxies[0]?.isReady === true);
  });
});
