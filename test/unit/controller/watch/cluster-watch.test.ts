import { beforeEach, describe, expect, it } from '@jest/globals';

import type { Changes } from '../../../../controller/compile/compilation.ts';
import type { KubernetesApi } from '../../../../controller/kubernetes/kubernetes-api.ts';
import type { ReleasedRoute } from '../../../../controller/watch/released-route.ts';
import type { KubernetesObject, Service } from '../../../../controller/kubernetes/objects.ts';
import {
  ClusterWatch,
  type ClusterWatchOptions,
  type StatusChange,
} from '../../../../controller/watch/cluster-watch.ts';
import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
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

/** Waits until that many were handed over, and for watches that take what comes next. */
async function expectHandedOver(count: number, watches = 5): Promise<Changes> {
  await eventually(`${String(count)} batches`, () => batches.length >= count);
  await eventually('all watches', () => server.watchCount >= watches);
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

/** What is told of a Route that serves here no more. */
function released(key: string, why: ReleasedRoute['why'], metadata: object): object {
  const route: unknown = expect.objectContaining({
    metadata: expect.objectContaining(metadata) as unknown,
  });
  return { kind: 'released-route', key, released: { route, why } };
}

function keysOf(map: ReadonlyMap<string, unknown> | undefined): readonly string[] {
  return [...(map?.keys() ?? [])].sort();
}

describe('the first changes', () => {
  it('are everything there is', async () => {
    putRoute('files');
    server.put(SETTINGS, { metadata: { name: 'gatehouse', namespace: 'gatehouse' } });
    server.put(SETTINGS, { metadata: { name: 'other', namespace: 'gatehouse' } });
    server.put(SERVICES, { metadata: { name: 'files', namespace: 'apps' } });
    server.put(SLICES, { metadata: { name: 'files-1', namespace: 'apps' } });
    server.put(GRANTS, { metadata: { name: 'grant', namespace: 'apps' } });
    begin();
    const first = await expectHandedOver(1, 5);
    expect(keysOf(first.routes)).toEqual(['apps/files']);
    expect(first.settings).toMatchObject({ metadata: { name: 'gatehouse' } });
    expect(keysOf(first.services)).toEqual(['apps/files']);
    expect(keysOf(first.endpointSlices)).toEqual(['apps/files-1']);
    expect(keysOf(first.referenceGrants)).toEqual(['apps/grant']);
    expect(first.secrets?.size).toBe(0);
    expect(first.namespaces?.size).toBe(0);
  });

  it('come when there is nothing, too', async () => {
    begin();
    const first = await expectHandedOver(1);
    expect(first.settings).toBeNull();
    expect(first.routes?.size).toBe(0);
  });

  it.each([
    ['services', 503],
    ['endpointslices', 403],
    ['routes', 404],
    ['gatewaysettings', 500],
  ])('wait for %s that answer %i', async (plural, status) => {
    let isBroken = true;
    server.intercept = ({ path }, response) => {
      if (!isBroken || !path.endsWith(plural)) return false;
      answerStatus(response, status, 'Broken');
      return true;
    };
    putRoute('files');
    const { health } = begin();
    await eventually('the others are watched', () => server.watchCount === 4);
    await eventually('two attempts', () => requestsFor(plural) >= 2);
    expect(batches).toEqual([]);
    expect(health.map(({ resource }) => resource)).toContain(plural);
    isBroken = false;
    expect(keysOf((await expectHandedOver(1)).routes)).toEqual(['apps/files']);
  });

  it('do not wait for ReferenceGrants where they are not installed', async () => {
    server.intercept = ({ path }, response) => {
      if (!path.endsWith('referencegrants')) return false;
      answerStatus(response, 404, 'NotFound');
      return true;
    };
    begin();
    await expectHandedOver(1, 4);
  });

  it('are of the given namespaces alone', async () => {
    putRoute('files');
    server.put(`${GATEHOUSE}/other/routes`, { metadata: { name: 'x', namespace: 'other' } });
    begin({ namespaces: ['apps', 'more'] });
    expect(keysOf((await expectHandedOver(1, 9)).routes)).toEqual(['apps/files']);
    expect(server.requests.map(({ path }) => path)).not.toContain(
      '/apis/gatehouse.dev/v1alpha1/routes',
    );
  });
});

describe('what counts as a change', () => {
  it('is gathered, and is the newest state of each', async () => {
    begin();
    await expectHandedOver(1);
    putRoute('a');
    putRoute('b');
    putRoute('b', { generation: 2 });
    putRoute('c');
    server.remove(ROUTES, 'c');
    const changes = await expectHandedOver(2);
    expect([...(changes.routes ?? [])]).toEqual([
      ['apps/a', expect.objectContaining({ metadata: expect.objectContaining({ generation: 1 }) })],
      ['apps/b', expect.objectContaining({ metadata: expect.objectContaining({ generation: 2 }) })],
      ['apps/c', undefined],
    ]);
    expect(changes).not.toHaveProperty('settings');
  });

  it('is no status, which is told by itself, and at hand', async () => {
    putRoute('files');
    const settings = { name: 'gatehouse', namespace: 'gatehouse', generation: 1 };
    server.put(SETTINGS, { metadata: settings });
    const told: StatusChange[] = [];
    const it = begin({ onStatusChange: (change) => void told.push(change) });
    await expectHandedOver(1);
    putRoute('files', { status: { url: 'https://files.example.com' } });
    const withLabels = { metadata: { ...settings, labels: { team: 'a' } } };
    server.put(SETTINGS, withLabels);
    await eventually('the newest are told', () => told.length === 2);
    expect(told).toContainEqual({
      kind: 'route',
      key: 'apps/files',
      route: expect.objectContaining({ status: { url: 'https://files.example.com' } }),
    });
    expect(told).toContainEqual({ kind: 'settings', settings: it.settings });
    expect(it.route('apps/files')).toMatchObject({ status: { url: 'https://files.example.com' } });
    putRoute('other');
    expect(keysOf((await expectHandedOver(2)).routes)).toEqual(['apps/other']);
  });

  it('is another object of the same name', async () => {
    putRoute('files');
    begin();
    await expectHandedOver(1);
    putRoute('files', { metadata: { uid: 'another' } });
    expect(keysOf((await expectHandedOver(2)).routes)).toEqual(['apps/files']);
  });

  it('is that a Route is being deleted: it counts as gone', async () => {
    putRoute('files');
    begin();
    await expectHandedOver(1);
    putRoute('files', { generation: 2, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    const { routes } = await expectHandedOver(2);
    expect([...(routes ?? [])]).toEqual([['apps/files', undefined]]);
  });

  it('is that a Route or the settings come to this gateway, or leave it', async () => {
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
    const first = await expectHandedOver(1);
    expect(keysOf(first.routes)).toEqual(['apps/mine']);
    expect(first.settings).toBeNull();
    expect(it.settings).toBeUndefined();
    expect(it.route('apps/theirs')).toBeUndefined();
    putRoute('mine', { generation: 2, spec: foreign });
    putRoute('theirs', { generation: 2, spec: { gatewayClassName: 'gatehouse' } });
    server.put(SETTINGS, { metadata: { ...metadata, generation: 2 } });
    await eventually('the settings', () => batches.some(({ settings }) => settings != null));
    const routes = new Map(batches.slice(1).flatMap((batch) => [...(batch.routes ?? [])]));
    expect(routes.get('apps/mine')).toBeUndefined();
    expect(keysOf(routes)).toEqual(['apps/mine', 'apps/theirs']);
    expect(routes.get('apps/theirs')).toBeDefined();
  });

  it('is told at once of a Route that stays and serves here no more, until it does or is gone', async () => {
    const told: StatusChange[] = [];
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const foreign = { gatewayClassName: 'foreign' };
    const ours = { gatewayClassName: 'gatehouse' };
    for (const name of ['deleted', 'leaving', 'back']) putRoute(name, { status: ours });
    putRoute('deleting', { generation: 2, metadata: deletion });
    putRoute('theirs', { spec: foreign, status: foreign });
    putRoute('left', { spec: foreign, status: ours });
    begin({ onStatusChange: (change) => void told.push(change) });
    await expectHandedOver(1);
    const isToldOf = (key: string): boolean => told.some((one) => 'key' in one && one.key === key);
    const atFirst = [
      released('apps/deleting', 'deleted', { generation: 2 }),
      released('apps/left', 'other-class', { generation: 1 }),
    ];
    expect(told).toEqual(atFirst);

    putRoute('theirs', { generation: 2, spec: foreign, status: foreign });
    putRoute('leaving', { generation: 3, spec: foreign, status: ours });
    putRoute('leaving', { generation: 3, spec: foreign, status: foreign });
    putRoute('back', { generation: 2, spec: foreign, status: ours });
    putRoute('back', { generation: 3, status: ours });
    putRoute('deleted', { generation: 2, metadata: deletion });
    server.remove(ROUTES, 'deleted');
    putRoute('last', { generation: 2, metadata: deletion });
    await eventually('the last is told', () => isToldOf('apps/last'));

    const changes = told.slice(atFirst.length).filter(({ kind }) => kind === 'released-route');
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

  it('is of a Service and its endpoints only what routes need', async () => {
    begin();
    await expectHandedOver(1);
    const metadata = { name: 'files', namespace: 'apps' };
    const service = (port: number, clusterIP: string): KubernetesObject & { spec: object } => ({
      metadata: { ...metadata, annotations: { clusterIP } },
      spec: { type: 'ClusterIP', clusterIP, ports: [{ port, nodePort: 30_000 }] },
    });
    server.put(SERVICES, service(80, '10.0.0.1'));
    const { services } = await expectHandedOver(2);
    expect(services?.get('apps/files')).toEqual({
      metadata,
      spec: { type: 'ClusterIP', ports: [{ port: 80 }] },
    });
    server.put(SERVICES, service(80, '10.0.0.2'));
    server.put(SERVICES, { metadata: { name: 'other', namespace: 'apps' } });
    expect(keysOf((await expectHandedOver(3)).services)).toEqual(['apps/other']);
  });

  it('goes on to be handed over after a handler failed, one call at a time', async () => {
    const failing: Changes[] = [];
    let running = 0;
    begin({
      onChanges: async (changes) => {
        running += 1;
        failing.push(changes);
        expect(running).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 50));
        running -= 1;
        throw new Error('cannot compile');
      },
    });
    await eventually('all watches', () => server.watchCount === 5 && failing.length === 1);
    putRoute('a');
    await eventually('the next', () => failing.length === 2);
    putRoute('b');
    await eventually('another', () => failing.length === 3);
    expect(keysOf(failing[2]?.routes)).toEqual(['apps/b']);
    await eventually('logs', () => logger.messages('error').length === 3);
  });
});

describe('what is followed while it is referred to', () => {
  it('are Secrets: changes wait until they are known, or known not to be there', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectHandedOver(1);
    let isHeld = true;
    server.intercept = ({ path, query }, response) => {
      const isAbsent = query.get('fieldSelector') === 'metadata.name=absent';
      if (!isHeld || path !== SECRETS || !isAbsent) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys', 'gatehouse/absent']) };
    expect(it.follow(wanted)).toBe(true);
    putRoute('files');
    await eventually('two attempts', () => requestsFor('secrets') >= 4);
    expect(batches).toHaveLength(1);
    isHeld = false;
    const { secrets, routes } = await expectHandedOver(2, 7);
    expect(keysOf(routes)).toEqual(['apps/files']);
    expect(keysOf(secrets)).toEqual(['gatehouse/absent', 'gatehouse/keys']);
    expect(secrets?.get('gatehouse/absent')).toBeUndefined();
    expect(secrets?.get('gatehouse/keys')?.get('current')?.toString()).toBe('value');
    expect(it.follow(wanted)).toBe(false);
    putSecret('absent', { current: 'there now' });
    expect(keysOf((await expectHandedOver(3, 7)).secrets)).toEqual(['gatehouse/absent']);
  });

  it('are Secrets that we may not read: they count as missing until we may', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectHandedOver(1);
    let isForbidden = true;
    server.intercept = ({ path }, response) => {
      if (!isForbidden || path !== SECRETS) return false;
      answerStatus(response, 403, 'Forbidden');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys']) };
    expect(it.follow(wanted)).toBe(true);
    expect([...((await expectHandedOver(2)).secrets ?? [])]).toEqual([
      ['gatehouse/keys', undefined],
    ]);
    expect(it.follow(wanted)).toBe(false);
    putRoute('files');
    expect(keysOf((await expectHandedOver(3)).routes)).toEqual(['apps/files']);
    const secretHealth = () => it.health.find(({ resource }) => resource === 'secrets');
    await eventually('health tells', () => secretHealth()?.problem === 'forbidden');
    expect(logger.messages('warn')).toContain('kubernetes watch fails');
    isForbidden = false;
    const { secrets } = await expectHandedOver(4, 6);
    expect(secrets?.get('gatehouse/keys')?.get('current')?.toString()).toBe('value');
  });

  it('are Secrets that changes wait for no longer than a while', async () => {
    const it = begin({ secretPatienceMs: 100 });
    await expectHandedOver(1);
    server.intercept = ({ path }, response) => {
      if (path !== SECRETS) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    const wanted = { ...NOTHING, secretNames: new Set(['gatehouse/keys']) };
    expect(it.follow(wanted)).toBe(true);
    putRoute('files');
    const { routes, secrets } = await expectHandedOver(2);
    expect(keysOf(routes)).toEqual(['apps/files']);
    expect([...(secrets ?? [])]).toEqual([['gatehouse/keys', undefined]]);
    expect(it.follow(wanted)).toBe(false);
  });

  it('are what the settings say: a change of those waits for nothing', async () => {
    const it = begin();
    await expectHandedOver(1);
    server.intercept = ({ path }, response) => {
      if (path !== NAMESPACES) return false;
      answerStatus(response, 403, 'Forbidden');
      return true;
    };
    expect(it.follow({ ...NOTHING, namespaces: true })).toBe(true);
    putRoute('files');
    await eventually('two attempts', () => requestsFor('namespaces') >= 2);
    expect(batches).toHaveLength(1);
    server.put(SETTINGS, { metadata: { name: 'gatehouse', namespace: 'gatehouse' } });
    expect(keysOf((await expectHandedOver(2)).routes)).toEqual(['apps/files']);
    expect(it.follow({ ...NOTHING, namespaces: true })).toBe(true);
    it.follow(NOTHING);
    await expectHandedOver(3);
    expect(it.follow(NOTHING)).toBe(false);
  });

  it('are Secrets no longer when nothing refers to them', async () => {
    putSecret('keys', { current: 'value' });
    const it = begin();
    await expectHandedOver(1);
    it.follow({ ...NOTHING, secretNames: new Set(['gatehouse/keys']) });
    await expectHandedOver(2, 6);
    expect(it.follow(NOTHING)).toBe(false);
    const { secrets } = await expectHandedOver(3);
    expect([...(secrets ?? [])]).toEqual([['gatehouse/keys', undefined]]);
    await eventually('the watch is over', () => server.watchCount === 5);
    expect(it.follow({ ...NOTHING, secretNames: new Set(['gatehouse/keys']) })).toBe(true);
    const again = await expectHandedOver(4, 6);
    expect(again.secrets?.get('gatehouse/keys')?.get('current')?.toString()).toBe('value');
  });

  it('are namespaces, and never before', async () => {
    server.put(NAMESPACES, { metadata: { name: 'apps', labels: { team: 'a' } } });
    const it = begin();
    await expectHandedOver(1);
    expect(requestsFor('namespaces')).toBe(0);
    expect(it.follow({ ...NOTHING, namespaces: true })).toBe(true);
    const { namespaces } = await expectHandedOver(2, 6);
    expect([...(namespaces ?? [])]).toEqual([['apps', { team: 'a' }]]);
    expect(it.follow({ ...NOTHING, namespaces: true })).toBe(false);
    server.put(NAMESPACES, { metadata: { name: 'apps', labels: { team: 'b' } } });
    expect([...((await expectHandedOver(3, 6)).namespaces ?? [])]).toEqual([
      ['apps', { team: 'b' }],
    ]);
    it.follow(NOTHING);
    expect([...((await expectHandedOver(4)).namespaces ?? [])]).toEqual([['apps', undefined]]);
  });
});

describe('the Service in front of the proxies', () => {
  it('is told by itself, with its addresses, and holds nothing back', async () => {
    const seen: (Service | undefined)[] = [];
    let isBroken = true;
    server.intercept = ({ path }, response) => {
      if (!isBroken || path !== PROXY_SERVICES) return false;
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    begin({ proxyService: 'proxy', onProxyServiceChange: (service) => void seen.push(service) });
    await expectHandedOver(1);
    isBroken = false;
    const service: Service = {
      metadata: { name: 'proxy', namespace: 'gatehouse' },
      spec: { type: 'LoadBalancer', ports: [{ port: 443 }] },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    };
    server.put(PROXY_SERVICES, { ...service });
    await eventually('it is told', () => seen.length === 1);
    expect(seen).toEqual([service]);
    server.remove(PROXY_SERVICES, 'proxy');
    await eventually('it is gone', () => seen.length === 2);
    expect(seen[1]).toBeUndefined();
  });
});

function requestsFor(plural: string): number {
  return server.requests.filter(({ path }) => path.endsWith(`/${plural}`)).length;
}
