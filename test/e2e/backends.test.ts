import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { hostOf, namespaceManifests, TEAM } from '../support/kubernetes/gateway-manifests.ts';
import {
  endpointAddress,
  referenceGrantManifest,
  SERVICE_PORT,
  serviceManifest,
  sliceManifest,
  type ServicePlace,
} from '../support/kubernetes/service-manifests.ts';
import { startTcpService } from '../support/tcp-service.ts';
import { startUpstream } from '../support/upstream.ts';

const OTHER_TEAM = 'other-team';

describeEndToEnd('fake', ['rbac', 'tokens'], 'backends of routes in a cluster', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let gateway: ClusterGateway;
  let address: string;

  beforeAll(async () => {
    const world = await startClusterWorld(openCluster, { controllers: 1, proxies: 2 });
    ({ gateway } = opened.use(world));
    address = endpointAddress(world.cluster);
    await gateway.admin.apply(namespaceManifests(OTHER_TEAM));
  });
  afterAll(() => opened.disposeAsync());

  test('requests follow the targets of a Service, and the route does not change', async () => {
    const place = { namespace: TEAM, name: 'moving' };
    await gateway.admin.apply(serviceManifest(place));
    await placeTarget(place, 'one');
    await gateway.applyRoute('moving', {
      backendRefs: [{ name: place.name, port: SERVICE_PORT }],
    });
    await untilAnswered('moving', 'one');
    await gateway.untilCondition('moving', 'Programmed', 'True/Programmed');
    const before = await gateway.route('moving');
    const hashes = await hashesOf('moving');

    await placeTarget(place, 'two');

    console.info(`requests moved after ${String(await untilAnswered('moving', 'two'))} ms`);
    expect(await hashesOf('moving')).toEqual(hashes);
    expect((await gateway.route('moving')).status).toEqual(before.status);
  });

  test('a route without its Service answers 503, and its status reports the missing Service', async () => {
    const place = { namespace: TEAM, name: 'missing' };
    await gateway.applyRoute('missing', {
      backendRefs: [{ name: place.name, port: SERVICE_PORT }],
    });

    await gateway.untilCondition('missing', 'ResolvedRefs', 'False/BackendNotFound');
    await gateway.untilCondition('missing', 'Programmed', 'True/Programmed');
    expect(await gateway.condition('missing', 'Accepted')).toBe('True/Accepted');
    expect(await gateway.statuses('missing')).toEqual([503, 503]);

    await gateway.admin.apply(serviceManifest(place));
    await placeTarget(place, 'found');
    await untilAnswered('missing', 'found');
    await gateway.untilCondition('missing', 'ResolvedRefs', 'True/ResolvedRefs');
  });

  test('a Service of another namespace gets requests only while a ReferenceGrant allows it', async () => {
    const place = { namespace: OTHER_TEAM, name: 'theirs' };
    await gateway.admin.apply(serviceManifest(place));
    await placeTarget(place, 'theirs');
    await gateway.applyRoute('theirs', { backendRefs: [{ ...place, port: SERVICE_PORT }] });

    await gateway.untilCondition('theirs', 'ResolvedRefs', 'False/RefNotPermitted');
    await gateway.untilCondition('theirs', 'Programmed', 'True/Programmed');
    expect(await gateway.statuses('theirs')).toEqual([503, 503]);

    await gateway.admin.apply(referenceGrantManifest(TEAM, OTHER_TEAM));
    await untilAnswered('theirs', 'theirs');
    await gateway.untilCondition('theirs', 'ResolvedRefs', 'True/ResolvedRefs');

    await gateway.admin.request(
      'DELETE',
      `/apis/gateway.networking.k8s.io/v1beta1/namespaces/${OTHER_TEAM}/referencegrants/from-${TEAM}`,
    );
    await eventually('every request is refused', async () =>
      (await gateway.statuses('theirs')).every((status) => status === 503),
    );
  });

  /** Starts a server that answers with a name, and makes it the only target of a Service. */
  async function placeTarget(place: ServicePlace, name: string): Promise<void> {
    const { port } = opened.use(await startUpstream((_message, response) => response.end(name)));
    const service = opened.use(await startTcpService(() => [port], address));
    await gateway.admin.apply(sliceManifest(place, { address, port: service.port }));
  }

  async function untilAnswered(route: string, body: string): Promise<number> {
    return eventually(`${body} answers`, async () => {
      const statuses = await gateway.statuses(route);
      if (statuses.some((status) => status !== 200)) return false;
      const answers = gateway.proxies.map(async (proxy) => proxy.ask(hostOf(route)));
      return (await Promise.all(answers)).every((answer) => answer.body === body);
    });
  }

  async function hashesOf(route: string): Promise<readonly (string | undefined)[]> {
    return Promise.all(gateway.proxies.map((proxy) => proxy.hashOf(`route/${TEAM}/${route}`)));
  }
});
