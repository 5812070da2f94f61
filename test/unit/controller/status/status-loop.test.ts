import { describe, expect, it } from '@jest/globals';

import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import { routeVerdict, settingsVerdict } from '../../../support/verdicts.ts';
import {
  BAD,
  MINUTE,
  PENDING,
  PROXY,
  readRoute,
  reasonOf,
  routeStatusOf,
  settingsStatusOf,
  tell,
  world,
} from './status-loop-world.ts';

describe('writing statuses', () => {
  it('reports a new Route in one write when its proxies acknowledge it', async () => {
    const made = await world();
    const { loop, publication, clock, writes } = made;
    publication.some.set('route/team-a/files', PENDING);
    tell(loop);
    await clock.advance(300);
    publication.some.set('route/team-a/files', { kind: 'programmed' });
    loop.recheck(new Set(['route/team-a/files']));
    await clock.advance(MINUTE);
    expect(writes('files')).toHaveLength(1);
    expect(reasonOf(routeStatusOf(made))).toBe('Programmed');
  });

  it('reports within two seconds that a Route waits for its proxies', async () => {
    const made = await world();
    made.publication.everything = PENDING;
    tell(made.loop);
    await made.clock.advance(1500);
    expect(reasonOf(routeStatusOf(made))).toBe('Pending');
  });

  it('updates the count of proxies of a waiting Route now and then', async () => {
    const made = await world();
    const { loop, publication, clock, writes } = made;
    tell(loop);
    for (let acknowledged = 0; acknowledged < 100; acknowledged += 1) {
      publication.everything = { kind: 'pending', acknowledged, proxies: 100 };
      loop.recheck('all');
      await clock.advance(100);
    }
    expect(writes('files').length).toBeLessThanOrEqual(3);
  });

  it('reports an invalid Route at once', async () => {
    const made = await world();
    tell(made.loop, { problems: [BAD] });
    await made.clock.advance(0);
    expect(reasonOf(routeStatusOf(made), 'Accepted')).toBe('InvalidPolicy');
  });

  it('writes nothing when nothing has changed', async () => {
    const { api, loop, clock, writes } = await world();
    tell(loop);
    await clock.advance(MINUTE);
    loop.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    tell(loop);
    loop.recheck('all');
    await clock.advance(MINUTE);
    expect(writes('files')).toHaveLength(1);
  });

  it('writes again if the status reverts while a write is in progress', async () => {
    const made = await world();
    const { api, loop, clock } = made;
    tell(loop);
    await clock.advance(MINUTE);
    const answer = Promise.withResolvers<undefined>();
    api.before = () => answer.promise;
    tell(loop, { problems: [BAD] });
    await clock.advance(100);
    tell(loop);
    await clock.advance(100);
    api.before = () => undefined;
    answer.resolve(undefined);
    await clock.advance(100);
    loop.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    await clock.advance(MINUTE);
    expect(reasonOf(routeStatusOf(made), 'Accepted')).toBe('Accepted');
  });

  it('corrects a status that another client changed', async () => {
    const made = await world();
    const { api, loop, clock } = made;
    tell(loop);
    await clock.advance(MINUTE);
    const place = { namespace: 'team-a', name: 'files' };
    await api.applyStatus(ROUTES, place, { conditions: [] });
    loop.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    await clock.advance(3000);
    expect(reasonOf(routeStatusOf(made))).toBe('Programmed');
  });

  it('ignores an older status from a late watch', async () => {
    const { api, loop, clock, writes } = await world();
    tell(loop);
    await clock.advance(MINUTE);
    const before = readRoute({ api });
    tell(loop, { generation: 2 });
    await clock.advance(MINUTE);
    const after = readRoute({ api });
    loop.observeRoutes(new Map([['team-a/files', before]]));
    await clock.advance(500);
    loop.observeRoutes(new Map([['team-a/files', after]]));
    await clock.advance(MINUTE);
    expect(writes('files')).toHaveLength(2);
  });

  it('does not repeat a write that the API server stored differently', async () => {
    const { api, loop, clock, writes } = await world();
    const place = { namespace: 'team-a', name: 'files' };
    const prune = () => {
      api.edit(ROUTES, place, (object) => ({ ...object, status: { url: 'pruned' } }));
      const object = api.read(ROUTES, place);
      if (object === undefined) throw new Error('gone');
      return object;
    };
    const apply = api.applyStatus.bind(api);
    api.applyStatus = async (...call) => {
      await apply(...call);
      return prune();
    };
    tell(loop);
    for (let round = 0; round < 10; round += 1) {
      await clock.advance(10_000);
      loop.recheck('all');
      loop.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    }
    expect(writes('files')).toHaveLength(1);
  });

  it('does not repeat a write that the API server refused, until the status changes', async () => {
    const { api, loop, clock, writes } = await world();
    api.before = ({ verb, name }) => {
      if (verb === 'apply-status' && name === 'files') {
        throw new KubernetesApiError({ code: 422, reason: 'Invalid' }, 'no');
      }
    };
    tell(loop);
    for (let round = 0; round < 10; round += 1) {
      await clock.advance(10_000);
      loop.recheck('all');
    }
    expect(writes('files')).toHaveLength(1);
    api.before = () => undefined;
    tell(loop, { generation: 2 });
    await clock.advance(1000);
    expect(writes('files')).toHaveLength(2);
  });

  it('does not write the status of a deleted Route to a new one of its name', async () => {
    const made = await world();
    const { api, loop, clock, writes } = made;
    const place = { namespace: 'team-a', name: 'files' };
    const replaceIt = async () => {
      api.remove(ROUTES, place);
      await api.create(ROUTES, 'team-a', { metadata: { name: 'files' } });
    };
    api.before = async ({ verb, name }) => {
      if (verb !== 'apply-status' || name !== 'files') return;
      api.before = () => undefined;
      await replaceIt();
    };
    tell(loop);
    await clock.advance(0);
    expect(writes('files')).toHaveLength(1);
    expect(routeStatusOf(made)).toEqual({});

    loop.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    await clock.advance(MINUTE);
    expect(writes('files')).toHaveLength(1);

    tell(loop, { uid: 'uid-files-2' });
    await clock.advance(0);
    expect(reasonOf(routeStatusOf(made))).toBe('Programmed');
  });

  it('forgets a deleted Route', async () => {
    const { loop, publication, clock, writes } = await world();
    publication.everything = PENDING;
    tell(loop);
    await clock.advance(100);
    loop.reportRoutes(new Map([['team-a/files', undefined]]));
    loop.observeRoutes(new Map([['team-a/files', undefined]]));
    await clock.advance(MINUTE);
    expect(writes('files')).toEqual([]);
  });

  it('reports 1,000 new Routes within seconds, in one write each', async () => {
    const { api, loop, publication, clock, writes } = await world();
    const names = Array.from({ length: 1000 }, (_, index) => `r${String(index)}`);
    for (const name of names) await api.create(ROUTES, 'team-a', { metadata: { name } });
    publication.everything = PENDING;
    const verdicts = names.map((name) => [`team-a/${name}`, routeVerdict({ name })] as const);
    loop.reportRoutes(new Map(verdicts));
    await clock.advance(400);
    publication.everything = { kind: 'programmed' };
    loop.recheck('all');
    for (let round = 0; round < 50; round += 1) await clock.advance(20);
    expect(writes().length).toBeGreaterThanOrEqual(1000);
    expect(writes().length).toBeLessThan(1010);
  });
});

describe('the status of GatewaySettings', () => {
  it('updates counters at most once in five seconds', async () => {
    const made = await world();
    const { loop, publication, clock, writes } = made;
    loop.reportSettings(settingsVerdict());
    await clock.advance(0);
    expect(writes('gatehouse')).toHaveLength(1);
    for (let round = 0; round < 100; round += 1) {
      publication.publish();
      loop.recheck(new Set(['route/team-a/files']));
      await clock.advance(100);
    }
    expect(writes('gatehouse').length).toBeGreaterThanOrEqual(2);
    expect(writes('gatehouse').length).toBeLessThanOrEqual(3);
    await clock.advance(5000);
    expect(settingsStatusOf(made).snapshot?.revision).toBe('1.101');
  });

  it('is pending until all snapshot resources of the settings are programmed', async () => {
    const made = await world();
    made.publication.some.set('signing-keys', PENDING);
    made.loop.reportSettings(settingsVerdict());
    await made.clock.advance(2000);
    expect(reasonOf(settingsStatusOf(made))).toBe('Pending');
  });

  it('reports the connected proxies and the addresses of the gateway', async () => {
    const made = await world();
    made.publication.proxies = [PROXY];
    made.loop.setProxyService({
      metadata: { name: 'proxy' },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    });
    made.loop.reportSettings(settingsVerdict());
    await made.clock.advance(0);
    expect(settingsStatusOf(made)).toMatchObject({
      addresses: [{ type: 'IPAddress', value: '192.0.2.1' }],
      proxies: { connected: 1, ready: 1, synced: 1, rejected: 0 },
    });
  });

  it('is not written once the settings are deleted', async () => {
    const { loop, clock, writes } = await world();
    loop.reportSettings(settingsVerdict());
    loop.reportSettings(null);
    loop.observeSettings(undefined);
    await clock.advance(MINUTE);
    expect(writes()).toEqual([]);
  });
});
