import { beforeEach, describe, expect, it } from '@jest/globals';

import type { Changes } from '../../../../controller/compile/compilation.ts';
import type { KubernetesApi } from '../../../../controller/kubernetes/kubernetes-api.ts';
import type { ReleasedRoute } from '../../../../controller/watch/released-route.ts';
import type { KubernetesObject, Service } from '../../../../controller/kubernetes/objects.ts';
import {
  ClusterWatch,
  type ClusterWatchOptions,
} from '../../../../controller/watch/cluster-watch.ts';
import type { StatusChange } from '../../../../controller/watch/status-change.ts';
import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
import { settle } from '../../../support/manual-clock.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  answerStatus,
  QUICK_TIMES,
  ScriptedApiServer,
} from '../../../support/kubernetes/scripted-api-server.ts';
import {
  createRecordingLogger,
  type RecordingLogger,
} from '../../../support/redis/recording-logger.ts';

const GATEHOUSE = '/apis/gatehouse.dev/v1alpha1/namespaces';
const ROUTES = `${GATEHOUSE}/apps/routes`;
const SETTINGS = `${GATEHOUSE}/gatehouse/gatewaysettings`;
const SERVICES = '/api/v1/namespaces/apps/services';
const PROXY_SERVICES = '/api/v1/namespaces/gatehouse/services';
const SECRETS = '/api/v1/namespaces/gatehouse/secrets';
const NAMESPACES = '/api/v1/namespaces';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/apps/endpointslices';
const GRANTS = '/apis/gateway.networking.k8s.io/v1beta1/namespaces/apps/referencegrants';
const NOTHING = { secretNames: new Set<string>(), namespaces: false };

const keep = disposeAfterEach();

let server: ScriptedApiServer;
let api: KubernetesApi;
let logger: RecordingLogger;
let batches: Changes[];

beforeEach(async () => {
  ({ server, api } = await ScriptedApiServer.start());
  keep(server);
  logger = createRecordingLogger();
  batches = [];
});

function begin(options: Partial<ClusterWatchOptions> = {}): ClusterWatch {
  return keep(
    new ClusterWatch({
      api,
      logger,
      gatewayClass: 'gatehouse',
      settings: { namespace: 'gatehouse', name: 'gatehouse' },
      onChanges: (changes) => void batches.push(changes),
      times: QUICK_TIMES,
      ...options,
    }),
  );
}

/** Waits for that many batches, and until watches are open for the next changes. */
async function expectBatch(count: number, watches = 5): Promise<Changes> {
  await eventually(`${String(count)} batches`, () => batches.length >= count);
  await eventually('all watches are open', () => server.watchCount >= watches);
  expect(batches).toHaveLength(count);
  return batches[count - 1] ?? {};
}

function putRoute(
  name: string,
  { generation = 1, spec = {}, metadata = {}, status = {} }: Partial<RouteParts> = {},
): void {
  const route: KubernetesObject & { spec: object; status: object } = {
    metadata: { name, namespace: 'apps', uid: `uid-of-${name}`, generation, ...metadata },
    spec,
    status,
  };
  server.put(ROUTES, route);
}

interface RouteParts {
  readonly generation: number;
  readonly spec: object;
  readonly metadata: object;
  readonly status: object;
}

function putSecret(name: string, values: Readonly<Record<string, string>>): void {
  const data = Object.entries(values).map(([key, value]) => [key, btoa(value)]);
  const secret: KubernetesObject & { data: unknown } = {
    metadata: { name, namespace: 'gatehouse' },
    data: Object.fromEntries(data) as unknown,
  };
  server.put(SECRETS, secret);
}

/** The report of a released Route. */
function released(key: string, why: ReleasedRoute['why'], metadata: object): object {
  const route: unknown = expect.objectContaining({
    metadata: expect.objectContaining(metadata) as unknown,
  });
  return { kind: 'released-route', key, released: { route, why } };
}

function keysOf(map: ReadonlyMap<string, unknown> | undefined): readonly string[] {
  return [...(map?.keys() ?? [])].sort();
}

describe('the first changes of a cluster watch', () => {
  it('hold everything there is', async () => {
    putRoute('files');
    server.put(SETTINGS, { metadata: { name: 'gatehouse', namespace: 'gatehouse' } });
    server.put(SETTINGS, { metadata: { name: 'other', namespace: 'gatehouse' } });
    server.put(SERVICES, { metadata: { name: 'files', namespace: 'apps' } });
    server.put(SLICES, { metadata: { name: 'files-1', namespace: 'apps' } });
    server.put(GRANTS, { metadata: { name: 'grant', namespace: 'apps' } });
    begin();
    const first = await expectBatch(1, 5);
    expect(keysOf(first.routes)).toEqual(['apps/files']);
    expect(first.settings).toMatchObject({ metadata: { name: 'gatehouse' } });
    expect(keysOf(first.services)).toEqual(['apps/files']);
    expect(keysOf(first.endpointSlices)).toEqual(['apps/files-1']);
    expect(keysOf(first.referenceGrants)).toEqual(['apps/grant']);
    expect(first.secrets?.size).toBe(0);
    expect(first.namespaces?.size).toBe(0);
  });

  it('arrive when the cluster is empty, too', async () => {
    begin();
    const first = await expectBatch(1);
    expect(first.settings).toBeNull();
    expect(first.routes?.size).toBe(0);
  });

  it.each([
    ['services', 503],
    ['endpointslices', 403],
    ['routes', 404],
    ['gatewaysettings', 500],
  ])('wait for %s that respond with %i', async (plural, status) => {
    let isBroken = true;
    server.intercept = ({ path }, response) => {
      if (!isBroken || !path.endsWith(plural)) return false;
      answerStatus(response, status, 'Broken');
      return true;
    };
    putRoute('files');
    const { health } = begin();
    await eventually('the others are watched', () => server.watchCount === 4);
    await eventually('it tried twice', () => requestsFor(plural) >= 2);
    expect(batches).toEqual([]);
    expect(health.map(({ resource }) => resource)).toContain(plural);
    isBroken = false;
    expect(keysOf((await expectBatch(1)).routes)).toEqual(['apps/files']);
  });

  it('do not wait for ReferenceGrants that are not installed', async () => {
    server.intercept = ({ path }, response) => {
      if (!path.endsWith('referencegrants')) return false;
      answerStatus(response, 404, 'NotFound');
      return true;
    };
    begin();
    await expectBatch(1, 4);
  });

  it('are of the given namespaces only', async () => {
    putRoute('files');
    server.put(`${GATEHOUSE}/other/routes`, { metadata: { name: 'x', namespace: 'other' } });
    begin({ namespaces: ['apps', 'more'] });
    expect(keysOf((await expectBatch(1, 9)).routes)).toEqual(['apps/files']);
    expect(server.requests.map(({ path }) => path)).not.toContain(
      '/apis/gatehouse.dev/v1alpha1/routes',
    );
  });
});

describe('later changes of a cluster watch', () => {
  it('are collected into the newest state of each resource', async () => {
    begin();
    await expectBatch(1);
    putRoute('a');
    putRoute('b');
    putRoute('b', { generation: 2 });
    putRoute('c');
    server.remove(ROUTES, 'c');
    const changes = await expectBatch(2);
    expect([...(changes.routes ?? [])]).toEqual([
      ['apps/a', expect.objectContaining({ metadata: expect.objectContaining({ generation: 1 }) })],
      ['apps/b', expect.objectContaining({ metadata: expect.objectContaining({ generation: 2 }) })],
      ['apps/c', undefined],
    ]);
    expect(changes).not.toHaveProperty('settings');
  });

  it('do not include statuses, which are reported separately', async () => {
    putRoute('files');
    const settings = { name: 'gatehouse', namespace: 'gatehouse', generation: 1 };
    server.put(SETTINGS, { metadata: settings });
    const reported: StatusChange[] = [];
    const it = begin({ onStatusChange: (change) => void reported.push(change) });
    await expectBatch(1);
    putRoute('files', { status: { url: 'https://files.example.com' } });
    const withLabels = { metadata: { ...settings, labels: { team: 'a' } } };
    server.put(SETTINGS, withLabels);
    await eventually('the newest statuses are reported', () => reported.length === 2);
    expect(reported).toContainEqual({
      kind: 'route',
      key: 'apps/files',
      route: expect.objectContaining({ status: { url: 'https://files.example.com' } }),
    });
    expect(reported).toContainEqual({ kind: 'settings', settings: it.settings });
    expect(it.route('apps/files')).toMatchObject({ status: { url: 'https://files.example.com' } });
    putRoute('other');
    expect(keysOf((await expectBatch(2)).routes)).toEqual(['apps/other']);
  });

  it('include a Route that was deleted and created again under its name', async () => {
    putRoute('files');
    begin();
    await expectBatch(1);
    putRoute('files', { metadata: { uid: 'another batch' } });
    expect(keysOf((await expectBatch(2)).routes)).toEqual(['apps/files']);
  });

  it('report a Route that is being deleted as gone', async () => {
    putRoute('files');
    begin();
    await expectBatch(1);
    putRoute('files', { generation: 2, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    const { routes } = await expectBatch(2);
    expect([...(routes ?? [])]).toEqual([['apps/files', undefined]]);
  });

  it('report Routes and settings that join or leave the gateway class', async () => {
    const foreign = { gatewayClassName: 'foreign' };
    putRoute('mine');
    putRoute('theirs', { spec: foreign });
    const metadata = { name: 'gatehouse', namespace: 'gatehouse' };
    const theirSettings: KubernetesObject & { spec: object } = {
      metadata: { ...metadata, generation: 1 },
      spec: foreign,
    };
    server.put(SETTINGS, theirSettings);
    const it = begin();
    const first = await expectBatch(1);
    expect(keysOf(first.routes)).toEqual(['apps/mine']);
    expect(first.settings).toBeNull();
    expect(it.settings).toBeUndefined();
    expect(it.route('apps/theirs')).toBeUndefined();
    putRoute('mine', { generation: 2, spec: foreign });
    putRoute('theirs', { generation: 2, spec: { gatewayClassName: 'gatehouse' } });
    server.put(SETTINGS, { metadata: { ...metadata, generation: 2 } });
    await eventually('the settings arrive', () => batches.some(({ settings }) => settings != null));
    const routes = new Map(batches.slice(1).flatMap((batch) => [...(batch.routes ?? [])]));
    expect(routes.get('apps/mine')).toBeUndefined();
    expect(keysOf(routes)).toEqual(['apps/mine', 'apps/theirs']);
    expect(routes.get('apps/theirs')).toBeDefined();
  });

  it('report a released Route at once, until it is served again or gone', async () => {
    const reported: StatusChange[] = [];
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const foreign = { gatewayClassName: 'foreign' };
    const ours = { gatewayClassName: 'gatehouse' };
    for (const name of ['deleted', 'leaving', 'back']) putRoute(name, { status: ours });
    putRoute('deleting', { generation: 2, metadata: deletion });
    putRoute('theirs', { spec: foreign, status: foreign });
    putRoute('left', { spec: foreign, status: ours });
    begin({ onStatusChange: (change) => void reported.push(change) });
    await expectBatch(1);
    const isReported = (key: string): boolean =>
      reported.some((one) => 'key' in one && one.key === key);
    const atFirst = [
      released('apps/deleting', 'deleted', { generation: 2 }),
      released('apps/left', 'other-class', { generation: 1 }),
    ];
    expect(reported).toEqual(atFirst);

    putRoute('theirs', { generation: 2, spec: foreign, status: foreign });
    putRoute('leaving', { generation: 3, spec: foreign, status: ours });
    putRoute('leaving', { generation: 3, spec: foreign, status: foreign });
    putRoute('back', { generation: 2, spec: foreign, status: ours });
    putRoute('back', { generation: 3, status: ours });
    putRoute('deleted', { generation: 2, metadata: deletion });
    server.remove(ROUTES, 'deleted');
    putRoute('last', { generation: 2, metadata: deletion });
    await eventually('the last is reported', () => isReported('apps/last'));

    const changes = reported.slice(atFirst.length).filter(({ kind }) => kind === 'released-route');
    expect(changes).toEqual([
      released('apps/leaving', 'other-class', { generation: 3 }),
      { kind: 'released-route', key: 'apps/leaving', released: undefined },
      released('apps/back', 'other-class', { generation: 2 }),
      { kind: 'released-route', key: 'apps/back', released: undefined },
      released('apps/deleted', 'deleted', { generation: 2 }),
      { kind: 'released-route', key: 'apps/deleted', released: undefined },
      released('apps/last', 'deleted', { generation: 2 }),
    ]);
  });

  it('include of a Service and its endpoints only what routes need', async () => {
    begin();
    await expectBatch(1);
    const metadata = { name: 'files', namespace: 'apps' };
    const service = (port: number, clusterIP: string): KubernetesObject & { spec: object } => ({
      metadata: { ...metadata, annotations: { clusterIP } },
      spec: { type: 'ClusterIP', clusterIP, ports: [{ port, nodePort: 30_000 }] },
    });
    server.put(SERVICES, service(80, '10.0.0.1'));
    const { services } = await expectBatch(2);
    expect(services?.get('apps/files')).toEqual({
      metadata,
      spec: { type: 'ClusterIP', ports: [{ port: 80 }] },
    });
    server.put(SERVICES, service(80, '10.0.0.2'));
    server.put(SERVICES, { metadata: { name: 'other', namespace: 'apps' } });
    expect(keysOf((await expectBatch(3)).services)).toEqual(['apps/other']);
  });

  it('are delivered one batch at a time, also after a handler failed', async () => {
    const failing: Changes[] = [];
    let running = 0;
    begin({
      onChanges: async (changes) => {
        running += 1;
        failing.push(changes);
        expect(running).toBe(1);
        await settle();
        running -= 1;
        throw new Error('cannot compile');
      },
    });
    await eventually('all watches are open', () => server.watchCount === 5 && failing.length === 1);
    putRoute('a');
    await eventually('the next batch', () => failing.length === 2);
    putRoute('b');
    await eventually('another batch', () => failing.length === 3);
    expect(keysOf(failing[2]?.routes)).toEqual(['apps/b']);
    await eventually('three errors are logged', () => logger.messages('error').length === 3);
  });
});

describe('references that a cluster watch subscribes to', () => {
  it('hold changes back until a Secret has loaded, or is known to be missing', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectBatch(1);
    let isHeld = true;
    server.intercept = ({ path, query }, response) => {
      const isAbsent = query.get('fieldSelector') === 'metadata.name=absent';
      if (!isHeld || path !== SECRETS || !isAbsent) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys', 'gatehouse/absent']) };
    expect(it.subscribe(wanted)).toBe(true);
    putRoute('files');
    await eventually('it tried twice', () => requestsFor('secrets') >= 4);
    expect(batches).toHaveLength(1);
    isHeld = false;
    const { secrets, routes } = await expectBatch(2, 7);
    expect(keysOf(routes)).toEqual(['apps/files']);
    expect(keysOf(secrets)).toEqual(['gatehouse/absent', 'gatehouse/keys']);
    expect(secrets?.get('gatehouse/absent')).toBeUndefined();
    expect(secrets?.get('gatehouse/keys')?.get('current')?.toString()).toBe('value');
    expect(it.subscribe(wanted)).toBe(false);
    putSecret('absent', { current: 'there now' });
    expect(keysOf((await expectBatch(3, 7)).secrets)).toEqual(['gatehouse/absent']);
  });

  it('count a Secret that is forbidden as missing until it can be read', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectBatch(1);
    let isForbidden = true;
    server.intercept = ({ path }, response) => {
      if (!isForbidden || path !== SECRETS) return false;
      answerStatus(response, 403, 'Forbidden');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys']) };
    expect(it.subscribe(wanted)).toBe(true);
    expect([...((await expectBatch(2)).secrets ?? [])]).toEqual([['gatehouse/keys', undefined]]);
    expect(it.subscribe(wanted)).toBe(false);
    putRoute('files');
    expect(keysOf((await expectBatch(3)).routes)).toEqual(['apps/files']);
    const secretHealth = () => it.health.find(({ resource }) => resource === 'secrets');
    await eventually('health reports it', () => secretHealth()?.problem === 'forbidden');
    expect(logger.messages('warn')).toContain('kubernetes watch failed');
    isForbidden = false;
    const { secrets } = await expectBatch(4, 6);
    expect(secrets?.get('gatehouse/keys')?.get('current')?.toString()).toBe('value');
  });

  it('hold changes back for a Secret only as long as the patience lasts', async () => {
    const it = begin({ secretPatienceMs: 100 });
    await expectBatch(1);
    server.intercept = ({ path }, response) => {
      if (path !== SECRETS) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys']) };
    expect(it.subscribe(wanted)).toBe(true);
    putRoute('files');
    const { routes, secrets } = await expectBatch(2);
    expect(keysOf(routes)).toEqual(['apps/files']);
    expect([...(secrets ?? [])]).toEqual([['gatehouse/keys', undefined]]);
    expect(it.subscribe(wanted)).toBe(false);
  });

  it('do not hold back a change of the settings', async () => {
    const it = begin();
    await expectBatch(1);
    server.intercept = ({ path }, response) => {
      if (path !== NAMESPACES) return false;
      answerStatus(response, 403, 'Forbidden');
      return true;
    };
    expect(it.subscribe({ ...NOTHING, namespaces: true })).toBe(true);
    putRoute('files');
    await eventually('it tried twice', () => requestsFor('namespaces') >= 2);
    expect(batches).toHaveLength(1);
    server.put(SETTINGS, { metadata: { name: 'gatehouse', namespace: 'gatehouse' } });
    expect(keysOf((await expectBatch(2)).routes)).toEqual(['apps/files']);
    expect(it.subscribe({ ...NOTHING, namespaces: true })).toBe(true);
    it.subscribe(NOTHING);
    await expectBatch(3);
    expect(it.subscribe(NOTHING)).toBe(false);
  });

  it('report a Secret as gone, and stop watching it, when nothing refers to it', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectBatch(1);
    it.subscribe({ ...NOTHING, secretNames: new Set(['gatehouse/keys']) });
    await expectBatch(2, 6);
    expect(it.subscribe(NOTHING)).toBe(false);
    const { secrets } = await expectBatch(3);
    expect([...(secrets ?? [])]).toEqual([['gatehouse/keys', undefined]]);
    await eventually('the watch has ended', () => server.watchCount === 5);
    expect(it.subscribe({ ...NOTHING, secretNames: new Set(['gatehouse/keys']) })).toBe(true);
    const again = await expectBatch(4, 6);
    expect(again.secrets?.get('gatehouse/keys')?.get('current')?.toString()).toBe('value');
  });

  it('watch namespaces only when their labels matter', async () => {
    server.put(NAMESPACES, { metadata: { name: 'apps', labels: { team: 'a' } } });
    const it = begin();
    await expectBatch(1);
    expect(requestsFor('namespaces')).toBe(0);
    expect(it.subscribe({ ...NOTHING, namespaces: true })).toBe(true);
    const { namespaces } = await expectBatch(2, 6);
    expect([...(namespaces ?? [])]).toEqual([['apps', { team: 'a' }]]);
    expect(it.subscribe({ ...NOTHING, namespaces: true })).toBe(false);
    server.put(NAMESPACES, { metadata: { name: 'apps', labels: { team: 'b' } } });
    expect([...((await expectBatch(3, 6)).namespaces ?? [])]).toEqual([['apps', { team: 'b' }]]);
    it.subscribe(NOTHING);
    expect([...((await expectBatch(4)).namespaces ?? [])]).toEqual([['apps', undefined]]);
  });
});

describe('the Service in front of the proxies', () => {
  it('is reported separately, with its addresses, and holds nothing back', async () => {
    const seen: (Service | undefined)[] = [];
    let isBroken = true;
    server.intercept = ({ path }, response) => {
      if (!isBroken || path !== PROXY_SERVICES) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    begin({ proxyService: 'proxy', onProxyServiceChange: (service) => void seen.push(service) });
    await expectBatch(1);
    isBroken = false;
    const service: Service = {
      metadata: { name: 'proxy', namespace: 'gatehouse' },
      spec: { type: 'LoadBalancer', ports: [{ port: 443 }] },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    };
    server.put(PROXY_SERVICES, { ...service });
    await eventually('it is reported', () => seen.length === 1);
    expect(seen).toEqual([service]);
    server.remove(PROXY_SERVICES, 'proxy');
    await eventually('it is gone', () => seen.length === 2);
    expect(seen[1]).toBeUndefined();
  });
});

function requestsFor(plural: string): number {
  return server.requests.filter(({ path }) => path.endsWith(`/${plural}`)).length;
}
