import { beforeEach, expect } from '@jest/globals';

import type { Changes } from '../../../../controller/compile/compilation.ts';
import type { KubernetesApi } from '../../../../controller/kubernetes/kubernetes-api.ts';
import type { ReleasedRoute } from '../../../../controller/watch/released-route.ts';
import type { KubernetesObject } from '../../../../controller/kubernetes/objects.ts';
import {
  ClusterWatch,
  type ClusterWatchOptions,
} from '../../../../controller/watch/cluster-watch.ts';
import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
import { eventually } from '../../../support/eventually.ts';
import { QUICK_TIMES, ScriptedApiServer } from '../../../support/kubernetes/scripted-api-server.ts';
import {
  createRecordingLogger,
  type RecordingLogger,
} from '../../../support/redis/recording-logger.ts';
import { ReadableControllerMetrics } from '../../../support/metrics/readable-controller-metrics.ts';

export const GATEHOUSE = '/apis/gatehouse.dev/v1alpha1/namespaces';
export const ROUTES = `${GATEHOUSE}/apps/routes`;
export const SETTINGS = `${GATEHOUSE}/gatehouse/gatewaysettings`;
export const SERVICES = '/api/v1/namespaces/apps/services';
export const PROXY_SERVICES = '/api/v1/namespaces/gatehouse/services';
export const SECRETS = '/api/v1/namespaces/gatehouse/secrets';
export const NAMESPACES = '/api/v1/namespaces';
export const SLICES = '/apis/discovery.k8s.io/v1/namespaces/apps/endpointslices';
export const GRANTS = '/apis/gateway.networking.k8s.io/v1beta1/namespaces/apps/referencegrants';
/** No references. */
export const NOTHING = {
  secretNames: new Set<string>(),
  configMapNames: new Set<string>(),
  namespaces: false,
  clusterIssuer: false,
};

const keep = disposeAfterEach();

/** The API server of each test. */
export let server: ScriptedApiServer;
let api: KubernetesApi;
/** Records what the watch logs. */
export let logger: RecordingLogger;
/** The batches of changes that the watch delivered. */
export let batches: Changes[];

beforeEach(async () => {
  ({ server, api } = await ScriptedApiServer.start());
  keep(server);
  logger = createRecordingLogger();
  batches = [];
});

/** Starts a watch, which ends with the test. */
export function begin(options: Partial<ClusterWatchOptions> = {}): ClusterWatch {
  return keep(
    new ClusterWatch({
      api,
      metrics: new ReadableControllerMetrics(),
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
export async function expectBatch(count: number, watches = 5): Promise<Changes> {
  await eventually(`${String(count)} batches`, () => batches.length >= count);
  await eventually('all watches are open', () => server.watchCount >= watches);
  expect(batches).toHaveLength(count);
  return batches[count - 1] ?? {};
}

/** Creates or replaces a Route in namespace `apps`. */
export function putRoute(
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

/** Creates or replaces a Secret in namespace `gatehouse`. */
export function putSecret(name: string, values: Readonly<Record<string, string>>): void {
  const data = Object.entries(values).map(([key, value]) => [key, btoa(value)]);
  const secret: KubernetesObject & { data: unknown } = {
    metadata: { name, namespace: 'gatehouse', labels: { 'gatehouse.dev/referable': 'true' } },
    data: Object.fromEntries(data) as unknown,
  };
  server.put(SECRETS, secret);
}

/** The report of a released Route. */
export function released(key: string, why: ReleasedRoute['why'], metadata: object): object {
  const route: unknown = expect.objectContaining({
    metadata: expect.objectContaining(metadata) as unknown,
  });
  return { kind: 'released-route', key, released: { route, why } };
}

/** The keys of a map, sorted. */
export function keysOf(map: ReadonlyMap<string, unknown> | undefined): readonly string[] {
  return [...(map?.keys() ?? [])].sort();
}

/** The number of requests for a type. */
export function requestsFor(plural: string): number {
  return server.requests.filter(({ path }) => path.endsWith(`/${plural}`)).length;
}
