import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { connectKubernetes } from '../../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../../controller/kubernetes/kubeconfig-access.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
} from '../../../controller/kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../../controller/kubernetes/objects.ts';
import {
  GATEWAY_SETTINGS,
  LEASES,
  NAMESPACES,
  ROUTES,
  SECRETS,
} from '../../../controller/kubernetes/resource-types.ts';
import {
  startController,
  type Controller,
  type ControllerTiming,
} from '../../../controller/controller.ts';
import { DEFAULT_TIMING } from '../../../controller/leader/election-timing.ts';
import { DEFAULT_LIMITS } from '../../../controller/status/status-writer.ts';
import { eventually } from '../../support/eventually.ts';
import type { Cluster } from '../../support/kubernetes/cluster.ts';
import { startFakeCluster } from '../../support/kubernetes/fake/start-fake-cluster.ts';
import { writeCertificate } from '../../support/push/push-world.ts';
import {
  createRecordingLogger,
  type RecordingLogger,
} from '../../support/redis/recording-logger.ts';
import { createThrowawayAuthority } from '../../support/throwaway-authority.ts';
import { ReadableControllerMetrics } from '../../support/metrics/readable-controller-metrics.ts';

const KEY = 'route/default/files';

const PROVIDER = `{ name: idp, issuerUrl: 'https://idp.example.com', clientId: gatehouse, clientSecretRef: { name: typo, key: secret } }`;
const WITH_SECRET = `{ identityProviders: [${PROVIDER}] }`;

const WITH_SELECTOR =
  '{ allowedRoutes: { namespaces: { from: Selector, selector: { matchLabels: { team: a } } } } }';

/** Short, so that no test waits for a term or for the patience with references. */
const TIMING: Partial<ControllerTiming> = {
  firstHellosMs: 0,
  referencePatienceMs: 100,
  election: { ...DEFAULT_TIMING, retryPeriodMs: 100 },
};

/** GatewaySettings that throw when their spec is read. */
const UNREADABLE: KubernetesObject = {
  metadata: { name: 'gatehouse', namespace: 'default', generation: 1 },
  spec: {
    get identityProviders(): never {
      throw new Error('unreadable');
    },
  },
};

let cluster: Cluster;
let tlsDirectory: string;
let logger: RecordingLogger;
let audit: RecordingLogger;
let metrics: ReadableControllerMetrics;
let controller: Controller | undefined;

beforeEach(async () => {
  cluster = await startFakeCluster();
  tlsDirectory = await mkdtemp(join(tmpdir(), 'gatehouse-controller-'));
  await writeCertificate(tlsDirectory, createThrowawayAuthority().issue(['127.0.0.1']));
  logger = createRecordingLogger();
  audit = createRecordingLogger();
  metrics = new ReadableControllerMetrics();
  await applySettings('{}');
});

afterEach(async () => {
  await controller?.close();
  controller = undefined;
  await cluster[Symbol.asyncDispose]();
  await rm(tlsDirectory, { recursive: true });
});

async function start(change: Partial<KubernetesApi> = {}): Promise<Controller> {
  controller = await startController({
    api: { ...connect(), ...change },
    logger,
    audit,
    metrics,
    host: 'pod',
    namespace: 'default',
    watchNamespaces: undefined,
    gatewayClass: 'gatehouse',
    settingsName: 'gatehouse',
    proxyServiceAccount: { name: 'gatehouse-proxy' },
    proxyService: { name: 'gatehouse-proxy' },
    pushListen: { host: '127.0.0.1', port: 0 },
    pushTlsDirectory: tlsDirectory,
    pushAddress: 'pod:8444',
    deletionDelayMs: 30_000,
    timing: TIMING,
    limits: { ...DEFAULT_LIMITS, settlingMs: 0 },
  });
  return controller;
}

function connect(): KubernetesApi {
  return connectKubernetes(kubeconfigAccess(cluster.adminKubeconfig));
}

async function applySettings(spec: string): Promise<void> {
  await cluster.admin.apply(`
apiVersion: gatehouse.dev/v1alpha1
kind: GatewaySettings
metadata: { name: gatehouse, namespace: default }
spec: ${spec}
`);
}

async function applyRoute(to: string, more = ''): Promise<void> {
  await cluster.admin.apply(`
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: { name: files, namespace: default }
spec: { from: 'https://files.example.com', to: '${to}', allowPublicUnauthenticatedAccess: true${more} }
`);
}

/** The upstream of the compiled Route. */
function upstream({ table }: Controller): string | undefined {
  const value = table.get(KEY)?.value;
  return value?.kind === 'route' ? value.upstream : undefined;
}

function hasLogged(level: 'info' | 'warn', message: string, times = 1): boolean {
  return logger.messages(level).filter((one) => one === message).length >= times;
}

function hasLed(): boolean {
  return hasLogged('info', 'leadership acquired');
}

describe('a controller', () => {
  it('leads and goes on compiling although it may not read a Secret', async () => {
    await applySettings(WITH_SECRET);
    const api = connect();
    const it = await start({
      list: async (type, scope, page) => {
        if (type !== SECRETS) return await api.list(type, scope, page);
        throw new KubernetesApiError({ code: 403, reason: 'Forbidden' }, 'secrets is forbidden');
      },
    });
    await eventually('it is ready', () => it.isReady);
    await applySettings('{}');
    await applyRoute('http://one.example.com');
    await eventually('the Route is compiled', () => it.table.has(KEY));
    expect(it.table.has('settings')).toBe(true);
  });

  it('logs that publication is held back while namespaces cannot be read, and when it resumes', async () => {
    await applySettings(WITH_SELECTOR);
    const api = connect();
    let isAway = true;
    await start({
      list: async (type, scope, page) => {
        if (type !== NAMESPACES || !isAway) return await api.list(type, scope, page);
        throw new KubernetesApiError({ code: 500, reason: 'InternalError' }, 'away');
      },
    });
    await eventually('it is held back', () => hasLogged('warn', 'publication held back'));
    isAway = false;
    await eventually('it resumes', () => hasLogged('info', 'publication resumed'));

    const [told] = logger.records.filter(({ message }) => message === 'publication held back');
    expect(told?.fields['reason']).toMatch('resources that the settings refer to cannot be read');
  });

  it('logs once that its settings are missing, and once that they were found', async () => {
    const settings = '/apis/gatehouse.dev/v1alpha1/namespaces/default/gatewaysettings/gatehouse';
    const missing = 'GatewaySettings not found, no route is served';
    await applySettings('{ gatewayClassName: other }');
    const it = await start();
    await eventually('it is ready', () => it.isReady);
    await applyRoute('http://one.example.com');
    const place = { namespace: 'default', name: 'files' };
    await eventually('the Route says so', async () => {
      const route = JSON.stringify(await connect().get(ROUTES, place));
      return route.includes('no GatewaySettings default/gatehouse of class gatehouse');
    });
    await cluster.admin.request('DELETE', settings);
    expect(hasLogged('info', 'GatewaySettings found')).toBe(false);
    await applySettings('{}');
    await eventually('it is logged', () => hasLogged('info', 'GatewaySettings found'));
    await eventually('the Route is compiled', () => it.table.has(KEY));
    expect(logger.messages('warn').filter((message) => message === missing)).toHaveLength(1);
    const [told] = logger.records.filter(({ message }) => message === missing);
    expect(told?.fields).toEqual({ settings: 'default/gatehouse', class: 'gatehouse' });
    await cluster.admin.request('DELETE', settings);
    await eventually('it is logged again', () => hasLogged('warn', missing, 2));
  });

  it('adopts what the statuses of the leader before say when it begins to lead', async () => {
    const api = connect();
    let mayLead = false;
    const it = await start({
      create: async (type, namespace, object) => {
        if (type === LEASES && !mayLead) throw new Error('not yet');
        return await api.create(type, namespace, object);
      },
      // This controller never sees the second generation.
      async *watch(type, scope, options) {
        for await (const event of api.watch(type, scope, options)) {
          const isSecond = 'object' in event && event.object.metadata.generation === 2;
          if (type !== ROUTES || !isSecond) yield event;
        }
      },
    });
    await eventually('it is ready', () => it.isReady);
    await applyRoute('http://one.example.com');
    await eventually('the first is compiled', () => upstream(it) === 'http://one.example.com');
    await applyRoute('http://two.example.com');
    const place = { namespace: 'default', name: 'files' };
    const second = await api.get(ROUTES, place);
    await applyRoute('http://three.example.com', ", regex: '('");
    const served = { generation: 2, spec: specOf(second) };
    await api.applyStatus(ROUTES, place, {
      ...{ gatewayClassName: 'gatehouse', url: 'https://files.example.com', served },
    });
    expect(upstream(it)).toBe('http://one.example.com');
    mayLead = true;
    await eventually('it leads', hasLed);
    await eventually('the second serves', () => upstream(it) === 'http://two.example.com');
  });

  it('fails when it cannot handle a change, and reconciles nothing after it', async () => {
    await applyRoute('http://one.example.com');
    const api = connect();
    const { failed, table } = await start({
      list: async (type, scope, page) => {
        const answer = await api.list(type, scope, page);
        return type === GATEWAY_SETTINGS ? { ...answer, items: [UNREADABLE] } : answer;
      },
    });
    await expect(failed).rejects.toThrow('unreadable');
    expect(logger.messages('error')).toContain('cannot handle a change');
    expect(table.size).toBe(0);
  });

  it('measures its leadership, compilations, watches and requests', async () => {
    await applyRoute('http://one.example.com');
    const it = await start();
    await eventually('it leads', () => metrics.value('snapshot_epoch') === 1);
    const count = (name: string, labels: Readonly<Record<string, string>>): number =>
      metrics.value(`${name}_seconds_count`, labels) ?? 0;
    const written = { kind: 'Route', outcome: 'ok' };
    await eventually('a status', () => count('status_write_duration', written) === 1);

    expect(metrics.value('leading')).toBe(1);
    expect(metrics.value('leaderships_total')).toBe(1);
    expect(metrics.values('routes')).toMatchObject({ accepted: 1, rejected: 0 });
    expect(metrics.value('publication_held_back')).toBe(0);
    expect(count('compile_duration', { outcome: 'changed' })).toBe(1);
    expect(count('api_request_duration', { verb: 'list', outcome: 'ok' })).toBeGreaterThan(4);
    expect(Object.keys(metrics.values('watch_last_activity_timestamp_seconds')).sort()).toEqual([
      'endpointslices',
      'gatewaysettings',
      'referencegrants',
      'routes',
      'services',
    ]);
    expect(metrics.values('failing_watches')).toEqual({});
    await applyRoute('http://two.example.com');
    await eventually('it is compiled', () => upstream(it) === 'http://two.example.com');
    expect(count('compile_duration', { outcome: 'changed' })).toBe(2);
    await it.close();
    expect(metrics.value('leading')).toBe(0);
    expect(metrics.value('snapshot_epoch')).toBeUndefined();
  });

  it('measures that nothing is published while the settings cannot be used', async () => {
    await applySettings(WITH_SECRET);
    await start();
    await eventually('it says so', () => metrics.value('publication_held_back') === 1);

    expect(
      metrics.value('compile_duration_seconds_count', { outcome: 'obstacle' }),
    ).toBeGreaterThan(0);
    expect(Object.keys(metrics.values('problems'))).toHaveLength(1);
  });
});

function specOf(object: KubernetesObject): unknown {
  return object['spec'];
}
