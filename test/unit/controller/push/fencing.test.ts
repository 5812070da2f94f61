import { describe, expect, it } from '@jest/globals';

import { PUSH_TIMING } from '../../../../controller/push/push-timing.ts';
import { snapshotOf } from '../../../../shared/snapshot/hash-resource.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import type { ProbeAnswer } from '../../../support/push/push-probe.ts';
import { pushedRoute, pushedRoutes } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

const RESOURCES = pushedRoutes(5);
const FOREIGN = snapshotOf([pushedRoute('foreign')]);

describe('the end of a leadership', () => {
  it('closes all streams and connections without another byte', async () => {
    await using world = await startPushWorld({ timing: { pingMs: 600_000 } });
    const leadership = aLeadership(1);
    const publication = world.lead(leadership);
    publication.publish({ put: pushedRoutes(8000), deleted: [] });
    const proxies = await Promise.all(['proxy-0', 'proxy-1'].map((id) => world.connect({ id })));
    await eventually('half a snapshot', () => proxies.every(({ bytes }) => bytes > 100_000));
    leadership.end();
    publication.publish({ put: [pushedRoute('late')], deleted: [] });
    await eventually('the end', () => proxies.every(({ isDisconnected }) => isDisconnected));
    expect(proxies.map(({ serving }) => serving)).toEqual([undefined, undefined]);
    expect(proxies.flatMap(({ frames }) => frames.map(({ t }) => t))).not.toContain('commit');
  });

  it('prevents every write, even before its signal is aborted', async () => {
    const clock = new ManualClock();
    await using world = await startPushWorld({ clock });
    let isCurrent = true;
    const base = aLeadership(1);
    const publication = world.lead({
      epoch: 1,
      signal: base.signal,
      raiseEpochAbove: (epoch) => base.raiseEpochAbove(epoch),
      get isCurrent() {
        return isCurrent;
      },
    });
    publication.publish({ put: RESOURCES, deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('a snapshot', () => proxy.serving !== undefined);
    await clock.advance(PUSH_TIMING.pingMs);
    await eventually('a ping', () => proxy.frames.some(({ t }) => t === 'ping'));
    isCurrent = false;
    const { bytes } = proxy;
    publication.publish({ put: [pushedRoute('late')], deleted: [] });
    await clock.advance(PUSH_TIMING.pingMs);
    expect((await world.connect({ id: 'proxy-1' })).status).toBe(503);
    expect(proxy.bytes).toBe(bytes);
  });

  it('refuses proxies that connect after it', async () => {
    await using world = await startPushWorld({ leaderAddress: () => '10.0.0.7:8444' });
    const leadership = aLeadership(1);
    world.lead(leadership).publish({ put: RESOURCES, deleted: [] });
    leadership.end();
    const proxy = await world.connect({ id: 'proxy-0' });
    expect(proxy.status).toBe(503);
    expect(proxy.headers['x-leader']).toBe('10.0.0.7:8444');
  });
});

describe('a proxy with a snapshot of another leadership', () => {
  it.each([
    ['of a later epoch', { epoch: 9, sequence: 4 }],
    ['of the same epoch and a later sequence', { epoch: 3, sequence: 8 }],
    ['of the same position', { epoch: 3, sequence: 1 }],
  ])('%s raises the epoch before anything is sent', async (_, position) => {
    await using world = await startPushWorld();
    const leadership = aLeadership(3);
    const publication = world.lead(leadership);
    publication.publish({ put: RESOURCES, deleted: [] });
    const other = await world.connect({ id: 'proxy-0' });
    await eventually('the first', () => other.serving !== undefined);
    const letGo = leadership.holdRaises();
    const foreign = await world.connect({
      id: 'proxy-1',
      serving: { position, snapshot: FOREIGN },
    });
    await eventually('a raise', () => leadership.raises.length > 0);
    publication.publish({ put: [pushedRoute('more')], deleted: [] });
    expect(leadership.raises).toEqual([position.epoch]);
    expect([other.received.length, foreign.received.length]).toEqual([1, 0]);
    letGo();
    await eventually('the newest everywhere', () =>
      [other, foreign].every(({ serving }) => serving?.position.epoch === position.epoch + 1),
    );
    expect(publication.position.epoch).toBe(position.epoch + 1);
    expect(foreign.serving?.snapshot.version).toBe(publication.version);
    expect(other.received.at(-1)?.base).not.toBeNull();
    await eventually(
      'programmed',
      () => publication.rolloutState('route/default/more')?.kind === 'programmed',
    );
  });

  it('of an earlier epoch does not raise the epoch', async () => {
    await using world = await startPushWorld();
    const leadership = aLeadership(3);
    world.lead(leadership).publish({ put: RESOURCES, deleted: [] });
    const serving = { position: { epoch: 2, sequence: 99 }, snapshot: FOREIGN };
    const proxy = await world.connect({ id: 'proxy-0', serving });
    await eventually('ours', () => proxy.serving?.position.epoch === 3);
    expect(leadership.raises).toEqual([]);
  });

  it('raises the epoch by a nack with its position', async () => {
    await using world = await startPushWorld();
    const leadership = aLeadership(3);
    world.lead(leadership).publish({ put: RESOURCES, deleted: [] });
    const proxy = await world.connect({
      id: 'proxy-0',
      answer: ({ position }) =>
        position.epoch > 12 ? 'ack' : [{ key: '', reason: 'StalePosition', message: '12.5' }],
    });
    await eventually('a higher epoch', () => proxy.serving?.position.epoch === 13);
    expect(leadership.raises).toEqual([12]);
  });

  it('is ignored if it claims an epoch that no election can reach', async () => {
    await using world = await startPushWorld({ timing: { retryMs: 100_000 } });
    const leadership = aLeadership(3);
    const publication = world.lead(leadership);
    await world.connect({
      id: 'proxy-0',
      answer: () => [
        { key: '', reason: 'StalePosition', message: '999999999999999.999999999999999' },
      ],
      headers: { 'x-have': `999999999999999.999999999999999:${FOREIGN.version}` },
    });
    publication.publish({ put: RESOURCES, deleted: [] });
    await eventually('an error', () =>
      world.logger.messages('error').includes('proxy claims a snapshot of an impossible epoch'),
    );
    expect(publication.position.epoch).toBe(3);
    expect(leadership.raises).toEqual([]);
  });

  it('raises the epoch in steps if it claims one far above', async () => {
    await using world = await startPushWorld({ timing: { raiseIntervalMs: 50 } });
    const leadership = aLeadership(3);
    world.lead(leadership).publish({ put: RESOURCES, deleted: [] });
    const headers = { 'x-have': `15000.1:${FOREIGN.version}` };
    await world.connect({ id: 'proxy-0', headers, answer: () => 'silence' });
    await eventually('above the claim', () => leadership.epoch > 15_000);
    expect(leadership.raises).toEqual([10_003, 15_000]);
  });

  it('raises the epoch at most once per interval, however often it claims a higher one', async () => {
    const clock = new ManualClock();
    await using world = await startPushWorld({ clock });
    const leadership = aLeadership(3);
    world.lead(leadership).publish({ put: RESOURCES, deleted: [] });
    const honest = await world.connect({ id: 'proxy-0' });
    for (let index = 0; index < 10; index += 1) {
      const { epoch } = leadership;
      const headers = { 'x-have': `${String(epoch)}.7:${FOREIGN.version}` };
      await world.connect({ id: 'proxy-1', headers, answer: () => 'silence' });
    }
    expect(leadership.raises).toHaveLength(1);
    await clock.advance(PUSH_TIMING.raiseIntervalMs);
    await eventually('a second raise', () => leadership.raises.length > 1);
    expect(leadership.raises).toHaveLength(2);
    expect(honest.received.length).toBeLessThan(4);
    const warning = world.logger.records.find(({ level }) => level === 'warn');
    expect(warning?.fields).toEqual({ proxies: ['proxy-1'], claims: 1, epoch: 3, ours: 3 });
  });

  it('counts as a proxy without our snapshot once it rejects it or is slow to answer', async () => {
    for (const answer of [
      (): ProbeAnswer => [{ key: '', reason: 'InvalidResource', message: 'cannot' }],
      (): ProbeAnswer => 'silence',
    ]) {
      await using world = await startPushWorld({ timing: { slowMs: 50 } });
      const publication = world.lead(aLeadership(3));
      publication.publish({ put: RESOURCES, deleted: [] });
      const serving = { position: { epoch: 2, sequence: 9 }, snapshot: FOREIGN };
      await world.connect({ id: 'proxy-0' });
      await world.connect({ id: 'proxy-1', serving, answer });
      await eventually('pending', () => {
        return publication.rolloutState('route/default/route-0')?.kind === 'pending';
      });
      expect(publication.rolloutState('route/default/route-0')).toEqual({
        kind: 'pending',
        acknowledged: 1,
        proxies: 2,
      });
    }
  });

  it('is sent nothing while the epoch cannot be raised', async () => {
    await using world = await startPushWorld({ timing: { retryMs: 20 } });
    const leadership = aLeadership(3);
    let failures = 0;
    const publication = world.lead({
      epoch: 3,
      signal: leadership.signal,
      get isCurrent() {
        return leadership.isCurrent;
      },
      raiseEpochAbove: (epoch) => {
        failures += 1;
        return failures < 3
          ? Promise.reject(new Error('the API server is away'))
          : leadership.raiseEpochAbove(epoch);
      },
    });
    publication.publish({ put: RESOURCES, deleted: [] });
    const serving = { position: { epoch: 5, sequence: 1 }, snapshot: FOREIGN };
    const proxy = await world.connect({ id: 'proxy-0', serving });
    await eventually('a higher epoch', () => proxy.serving?.position.epoch === 6);
    expect(failures).toBe(3);
  });
});
