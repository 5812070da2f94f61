import { describe, expect, test } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { pushedRoute, pushedRoutes, pushedSettings } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

const A = 'route/default/a';
const STATUS = { t: 'status', ready: true, draining: false, conns: 0 } as const;

/** Times that a test does not wait for. */
const QUICK = { leaveMs: 20 };

describe('the metrics of a push server', () => {
  test('count what is pushed, whole and as changes', async () => {
    await using world = await startPushWorld();
    const { metrics } = world;
    const publication = world.lead(aLeadership(7));
    const proxy = await world.connect({ id: 'proxy-0' });
    publication.publish({ put: [pushedSettings(), ...pushedRoutes(3)], deleted: [] });
    await eventually('the first', () => proxy.serving?.position.sequence === 1);
    publication.publish({ put: [pushedRoute('more')], deleted: ['route/default/route-0'] });
    await eventually(
      'both are counted',
      () => metrics.value('pushed_snapshots_total', { kind: 'changes' }) === 1,
    );

    expect(metrics.values('pushed_snapshots_total')).toEqual({ whole: 1, changes: 1 });
    expect(metrics.value('pushed_frames_total')).toBe(6 + 4);
    await eventually(
      'all bytes arrived',
      () => metrics.value('pushed_bytes_total') === proxy.bytes,
    );
  });

  test('show what is published, to whom, and nothing once the leadership is over', async () => {
    await using world = await startPushWorld({ timing: QUICK });
    const { metrics } = world;
    metrics.publication.readFrom(() => world.server.publication);
    expect(metrics.values('snapshot_info')).toEqual({});
    expect(metrics.values('proxies')).toEqual({ connected: 0, ready: 0, synced: 0, rejecting: 0 });
    const leadership = aLeadership(7);
    const publication = world.lead(leadership);
    const good = await world.connect({ id: 'proxy-0' });
    good.send(STATUS);
    const message = 'not supported here';
    await world.connect({
      id: 'proxy-1',
      answer: ({ changed }) =>
        changed.has(A) ? [{ key: A, reason: 'InvalidResource', message }] : 'ack',
    });
    publication.publish({ put: [pushedSettings(), pushedRoute('a')], deleted: [] });
    await eventually(
      'both have answered',
      () => metrics.value('proxies', { state: 'rejecting' }) === 1,
    );
    await eventually('one is ready', () => metrics.value('proxies', { state: 'ready' }) === 1);

    expect(metrics.values('proxies')).toEqual({ connected: 2, ready: 1, synced: 1, rejecting: 1 });
    expect(metrics.values('rejections_total')).toEqual({ InvalidResource: 1 });
    expect(metrics.values('snapshot_info')).toEqual({ [publication.version]: 1 });
    expect(metrics.value('snapshot_epoch')).toBe(7);
    expect(metrics.value('snapshot_sequence')).toBeGreaterThanOrEqual(1);
    const publishedAt = metrics.value('snapshot_published_timestamp_seconds') ?? 0;
    expect(Math.abs(publishedAt - Date.now() / 1000)).toBeLessThan(60);
    leadership.end();
    expect(metrics.value('snapshot_epoch')).toBeUndefined();
    expect(metrics.values('acknowledgement_lag_seconds')).toEqual({});
  });

  test('show the lag of each proxy until it has left', async () => {
    await using world = await startPushWorld({ timing: QUICK });
    const { metrics } = world;
    metrics.publication.readFrom(() => world.server.publication);
    const publication = world.lead(aLeadership(1));
    await world.connect({ id: 'proxy-0' });
    const slow = await world.connect({ id: 'proxy-1', answer: () => 'silence' });
    publication.publish({ put: [pushedSettings()], deleted: [] });
    const lags = () => metrics.values('acknowledgement_lag_seconds');
    await eventually('one lags', () => lags()['proxy-0'] === 0 && (lags()['proxy-1'] ?? 0) > 0.05);
    expect(metrics.value('acknowledgement_duration_seconds_count')).toBe(1);
    const [snapshot] = slow.received;
    if (snapshot !== undefined) slow.acknowledge(snapshot);
    await eventually('none lags', () => lags()['proxy-1'] === 0);

    expect(metrics.value('acknowledgement_duration_seconds_count')).toBe(2);
    expect(metrics.value('acknowledgement_duration_seconds_sum')).toBeGreaterThan(0.05);
    await slow[Symbol.asyncDispose]();
    await eventually('it has left', () => !('proxy-1' in lags()));
    expect(lags()).toEqual({ 'proxy-0': 0 });
  });

  test('count streams that are refused, by reasons that no stranger chooses', async () => {
    await using world = await startPushWorld();
    const { metrics } = world;
    await world.connect({ id: 'proxy-0' });
    world.lead(aLeadership(1));
    await world.connect({ id: 'proxy-0', token: 'stolen' });
    await world.connect({ id: 'proxy-0', headers: { 'x-proto': '0' } });

    expect(metrics.values('push_refusals_total')).toEqual({
      'not-leading': 1,
      'invalid-token': 1,
      'unknown-protocol': 1,
    });
  });

  test('count what proxies report about upstreams', async () => {
    await using world = await startPushWorld();
    world.lead(aLeadership(1));
    const proxy = await world.connect({ id: 'proxy-0' });
    const failure = { reason: 'some-word', message: 'why' };
    const upstreamAuth = [
      { route: 'default/a', ageMs: 1, failure },
      { route: 'default/b', ageMs: 1 },
    ];
    proxy.send({ ...STATUS, upstreamAuth });
    const values = () => world.metrics.values('upstream_auth_reports_total');
    await eventually('both are counted', () => Object.keys(values()).length === 2);

    expect(values()).toEqual({ failed: 1, ready: 1 });
  });
});
