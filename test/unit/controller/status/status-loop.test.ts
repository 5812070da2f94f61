import { afterEach, describe, expect, it } from '@jest/globals';

import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { GATEWAY_SETTINGS, ROUTES } from '../../../../controller/kubernetes/resource-types.ts';
import type { Problem } from '../../../../controller/validate/problem.ts';
import type { Leadership } from '../../../../controller/leader/leadership.ts';
import type { RolloutState, ProxyReport } from '../../../../controller/push/publication.ts';
import type { Condition } from '../../../../controller/status/condition.ts';
import {
  parseStoredRoute,
  parseStoredSettings,
} from '../../../../controller/kubernetes/parse-stored.ts';
import type {
  RouteStatus,
  SettingsStatus,
  StoredRoute,
} from '../../../../controller/kubernetes/stored-resources.ts';
import { StatusLoop } from '../../../../controller/status/status-loop.ts';
import { DEFAULT_LIMITS } from '../../../../controller/status/status-writer.ts';
import type { ReleasedRoute } from '../../../../controller/watch/released-route.ts';
import { FakePublication } from '../../../support/fake-publication.ts';
import { MemoryApi } from '../../../support/kubernetes/memory-api.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { routeVerdict, settingsVerdict } from '../../../support/verdicts.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const PENDING: RolloutState = { kind: 'pending', acknowledged: 0, proxies: 3 };
const REJECTED: RolloutState = { kind: 'rejected', proxy: 'proxy-0', message: 'bad host' };
const BAD: Problem = { path: 'spec.policy', reason: 'InvalidPolicy', message: 'no' };
const DELETION = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const PROXY: ProxyReport = {
  id: 'proxy-0',
  isConnected: true,
  isReady: true,
  isDraining: false,
  position: undefined,
  isSynced: true,
  rejected: [],
};
const ends: AbortController[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end.abort();
});

function makeWorld() {
  const api = new MemoryApi();
  const clock = new ManualClock();
  const logger = recordingLogger();
  const publication = new FakePublication();
  const open = () =>
    new StatusLoop({
      api,
      logger,
      clock,
      identity: 'pod_1',
      gatewayClass: 'gatehouse',
      wallTime: () => clock.wallTime(),
      limits: { ...DEFAULT_LIMITS, settlingMs: 0 },
    });
  const writes = (name?: string) =>
    api.requests.filter(
      (request) => request.verb === 'apply-status' && (name === undefined || request.name === name),
    );
  const events = () =>
    api.requests.filter(({ plural }) => plural === 'events').map(({ object }) => object);
  return { api, clock, logger, publication, open, writes, events };
}

type World = ReturnType<typeof makeWorld>;

function lead({ publication }: World, loop: StatusLoop): AbortController {
  const end = new AbortController();
  ends.push(end);
  const leadership: Leadership = {
    epoch: 1,
    signal: end.signal,
    get isCurrent() {
      return !end.signal.aborted;
    },
    raiseEpochAbove: (epoch) => Promise.resolve(epoch + 1),
  };
  loop.lead({ leadership, publication });
  return end;
}

/** A loop that leads, with a Route that nothing was said about. */
async function world() {
  const made = makeWorld();
  await made.api.create(ROUTES, 'team-a', { metadata: { name: 'files' } });
  await made.api.create(GATEWAY_SETTINGS, 'gatehouse', { metadata: { name: 'gatehouse' } });
  const loop = made.open();
  const end = lead(made, loop);
  await made.clock.advance(0);
  return { ...made, loop, end };
}

function tell(loop: StatusLoop, outline: Parameters<typeof routeVerdict>[0] = {}): void {
  const { name = 'files' } = outline;
  loop.reportRoutes(new Map([[`team-a/${name}`, routeVerdict(outline)]]));
}

function readRoute({ api }: Pick<World, 'api'>): StoredRoute | undefined {
  const object = api.read(ROUTES, { namespace: 'team-a', name: 'files' });
  return object && parseStoredRoute(object);
}

function routeStatusOf(made: Pick<World, 'api'>): RouteStatus {
  return readRoute(made)?.status ?? {};
}

function settingsStatusOf({ api }: Pick<World, 'api'>): SettingsStatus {
  const object = api.read(GATEWAY_SETTINGS, { namespace: 'gatehouse', name: 'gatehouse' });
  return (object && parseStoredSettings(object).status) ?? {};
}

function reasonOf(status: RouteStatus | SettingsStatus, type = 'Programmed'): string | undefined {
  return status.conditions?.find((condition) => condition.type === type)?.reason;
}

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

describe('a released Route', () => {
  const place = { namespace: 'team-a', name: 'files' };

  /** A Route that every proxy serves, and says so. */
  async function served() {
    const made = await world();
    tell(made.loop);
    await made.clock.advance(MINUTE);
    made.loop.observeRoutes(new Map([['team-a/files', readRoute(made)]]));
    return made;
  }

  /** It is changed like this; what the watch tells of that. */
  function change({ api }: World, metadata: object, why: ReleasedRoute['why']): ReleasedRoute {
    api.edit(ROUTES, place, (object) => ({
      ...object,
      metadata: { ...object.metadata, generation: 2, ...metadata },
    }));
    return read({ api }, why);
  }

  function read({ api }: Pick<World, 'api'>, why: ReleasedRoute['why']): ReleasedRoute {
    const route = readRoute({ api });
    if (route === undefined) throw new Error('gone');
    return { route, why };
  }

  function denying(type: string, reason: string): Condition {
    return {
      ...{ type, status: 'False', reason, observedGeneration: 2 },
      message: expect.any(String) as unknown as string,
      lastTransitionTime: expect.any(String) as unknown as string,
    };
  }

  /** As the watch and the compiler tell of it, one after the other. */
  function release(loop: StatusLoop, released: ReleasedRoute): void {
    loop.releaseRoute('team-a/files', released);
    loop.observeRoutes(new Map([['team-a/files', undefined]]));
    loop.reportRoutes(new Map([['team-a/files', undefined]]));
  }

  it.each<[string, object, ReleasedRoute['why'], RouteStatus]>([
    [
      'is being deleted',
      DELETION,
      'deleted',
      {
        gatewayClassName: 'gatehouse',
        observedGeneration: 2,
        conditions: [denying('Accepted', 'Deleting'), denying('Programmed', 'Deleting')],
      },
    ],
    [
      'joins another gateway class',
      {},
      'other-class',
      { observedGeneration: 2, conditions: [denying('Programmed', 'OtherGatewayClass')] },
    ],
  ])('has one last status when it %s', async (_, metadata, why, status) => {
    const made = await served();
    const { loop, clock, writes, events } = made;
    release(loop, change(made, metadata, why));
    await clock.advance(MINUTE);
    loop.releaseRoute('team-a/files', read(made, why));
    loop.recheck('all');
    await clock.advance(MINUTE);
    expect(writes('files')).toHaveLength(2);
    expect(events()).toEqual([]);
    expect(routeStatusOf(made)).toEqual(status);
  });

  it('gets its last status from the next leader, once', async () => {
    const made = await served();
    const { clock, end, writes } = made;
    end.abort();
    change(made, {}, 'other-class');
    for (let leaders = 0; leaders < 2; leaders += 1) {
      const next = made.open();
      next.releaseRoute('team-a/files', read(made, 'other-class'));
      const nextEnd = lead(made, next);
      await clock.advance(MINUTE);
      nextEnd.abort();
      expect(writes('files')).toHaveLength(2);
    }
    expect(reasonOf(routeStatusOf(made))).toBe('OtherGatewayClass');
  });

  it('keeps the status that the other gateway wrote', async () => {
    const made = await served();
    const { api, loop, clock, writes } = made;
    const before = change(made, {}, 'other-class');
    const { conditions = [] } = routeStatusOf(made);
    const theirs = { gatewayClassName: 'other', observedGeneration: 2, conditions };
    await api.applyStatus(ROUTES, place, theirs);
    release(loop, before);
    // What they said comes before we said anything.
    loop.releaseRoute('team-a/files', read(made, 'other-class'));
    await clock.advance(MINUTE);
    expect(routeStatusOf(made)).toEqual(theirs);
    expect(writes('files')).toHaveLength(2);
  });

  it('gets its last status also after a write that was in progress', async () => {
    const made = await world();
    const { api, loop, clock } = made;
    const apply = api.applyStatus.bind(api);
    const late = Promise.withResolvers<undefined>();
    api.applyStatus = async (...write) => {
      api.applyStatus = apply;
      await late.promise;
      return await apply(...write);
    };
    tell(loop);
    await clock.advance(SECOND);
    release(loop, change(made, DELETION, 'deleted'));
    await clock.advance(SECOND);
    expect(routeStatusOf(made)).toEqual({});
    late.resolve(undefined);
    await clock.advance(MINUTE);
    expect(reasonOf(routeStatusOf(made))).toBe('Deleting');
  });

  it('gets no last status if this gateway wrote none before', async () => {
    const made = await world();
    const { loop, clock, writes } = made;
    release(loop, change(made, DELETION, 'deleted'));
    await clock.advance(MINUTE);
    expect(writes('files')).toEqual([]);
  });

  it('gets its usual status when it returns', async () => {
    const made = await served();
    const { api, loop, clock } = made;
    release(loop, change(made, {}, 'other-class'));
    await clock.advance(MINUTE);
    change(made, { generation: 3 }, 'other-class');
    loop.releaseRoute('team-a/files', undefined);
    loop.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    tell(loop, { generation: 3 });
    await clock.advance(MINUTE);
    expect(reasonOf(routeStatusOf(made))).toBe('Programmed');
    expect(routeStatusOf(made).observedGeneration).toBe(3);
  });
});

describe('an obstacle to publication', () => {
  it('is reported on what it holds back, and on no Route that is served', async () => {
    const made = await world();
    const { api, loop, clock, writes } = made;
    await api.create(ROUTES, 'team-a', { metadata: { name: 'new' } });
    tell(loop);
    loop.reportSettings(settingsVerdict());
    await clock.advance(MINUTE);
    loop.setObstacle('most routes are gone');
    tell(loop, { name: 'new' });
    await clock.advance(2000);
    expect(reasonOf(routeStatusOf(made))).toBe('Programmed');
    expect(reasonOf(settingsStatusOf(made))).toBe('HeldBack');
    expect(JSON.stringify(writes('new'))).toContain('most routes are gone');
    loop.setObstacle(undefined);
    await clock.advance(2000);
    expect(reasonOf(settingsStatusOf(made))).toBe('Programmed');
  });
});

describe('a leadership', () => {
  it('starts from the statuses that exist', async () => {
    const made = await world();
    const { api, loop, clock, end, writes } = made;
    tell(loop);
    await clock.advance(MINUTE);
    end.abort();
    const count = writes().length;

    const next = made.open();
    tell(next);
    next.observeRoutes(new Map([['team-a/files', readRoute({ api })]]));
    made.publication.everything = { kind: 'no-proxies' };
    lead(made, next);
    await clock.advance(MINUTE);
    expect(writes()).toHaveLength(count);
  });

  it('writes nothing before it begins and after it ends', async () => {
    const made = makeWorld();
    await made.api.create(ROUTES, 'team-a', { metadata: { name: 'files' } });
    const loop = made.open();
    tell(loop);
    await made.clock.advance(MINUTE);
    expect(made.writes()).toEqual([]);
    const end = lead(made, loop);
    await made.clock.advance(MINUTE);
    expect(made.writes()).toHaveLength(1);
    end.abort();
    tell(loop, { generation: 2 });
    await made.clock.advance(MINUTE);
    expect(made.writes()).toHaveLength(1);
    lead(made, loop);
    await made.clock.advance(MINUTE);
    expect(made.writes()).toHaveLength(2);
  });
});

describe('Events', () => {
  it('about a flapping Route end with the one that is true', async () => {
    const { loop, clock, events } = await world();
    tell(loop);
    await clock.advance(5000);
    for (let generation = 2; generation < 10; generation += 2) {
      tell(loop, { generation, problems: [BAD], servedGeneration: 1 });
      await clock.advance(1000);
      tell(loop, { generation: generation + 1 });
      await clock.advance(1000);
    }
    tell(loop, { generation: 10, problems: [BAD], servedGeneration: 9 });
    await clock.advance(2 * MINUTE);

    expect(events().length).toBeLessThan(9);
    expect(events().at(-1)).toMatchObject({ reason: 'InvalidPolicy' });
  });

  it('are recorded only when a verdict is reversed', async () => {
    const { loop, publication, clock, events } = await world();
    tell(loop);
    await clock.advance(5000);
    tell(loop, { generation: 2 });
    await clock.advance(5000);
    expect(events()).toEqual([]);

    tell(loop, { generation: 3, problems: [BAD], servedGeneration: 2 });
    await clock.advance(5000);
    tell(loop, { generation: 4, problems: [BAD], servedGeneration: 2 });
    await clock.advance(5000);
    tell(loop, { generation: 5 });
    await clock.advance(5000);
    publication.everything = REJECTED;
    loop.recheck('all');
    await clock.advance(5000);
    expect(events()).toMatchObject([
      {
        type: 'Warning',
        reason: 'InvalidPolicy',
        message: 'spec.policy: no',
        involvedObject: { kind: 'Route', namespace: 'team-a', name: 'files' },
      },
      { type: 'Normal', reason: 'Accepted' },
      { type: 'Warning', reason: 'RejectedByProxy', message: 'Proxy proxy-0 rejects it: bad host' },
    ]);
  });

  it('about publication that is held back are recorded on the settings only', async () => {
    const { loop, clock, events } = await world();
    tell(loop);
    loop.reportSettings(settingsVerdict());
    await clock.advance(5000);
    loop.setObstacle('most routes are gone');
    await clock.advance(5000);
    loop.setObstacle(undefined);
    await clock.advance(5000);
    expect(events()).toMatchObject([
      { reason: 'PublicationHeldBack', involvedObject: { kind: 'GatewaySettings' } },
      { reason: 'PublicationResumed' },
    ]);
  });
});
