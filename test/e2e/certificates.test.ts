import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { hostOf, INSTALL_NAMESPACE, TEAM } from '../support/kubernetes/gateway-manifests.ts';
import { coreIn, roleBindingsIn } from '../support/kubernetes/paths.ts';
import {
  endpointAddress,
  SERVICE_PORT,
  serviceManifest,
  sliceManifest,
} from '../support/kubernetes/service-manifests.ts';
import { startTcpService } from '../support/tcp-service.ts';
import { createThrowawayAuthority } from '../support/throwaway-authority.ts';
import { startUpstream } from '../support/upstream.ts';

const SECRETS = coreIn(TEAM, 'secrets');
const DAY_MS = 24 * 60 * 60 * 1000;
const HOST = hostOf('shop');
const KEY = `certificate/${TEAM}/shop-tls`;
const RIGHTS = 'gatehouse-controller-route-secrets';
const authority = createThrowawayAuthority();

describeEndToEnd('fake', ['rbac', 'tokens'], 'certificates in a cluster', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let gateway: ClusterGateway;
  let address: string;

  beforeAll(async () => {
    const world = await startClusterWorld(openCluster, { controllers: 1, proxies: 2 });
    ({ gateway } = opened.use(world));
    address = endpointAddress(world.cluster);
    await gateway.admin.request('POST', roleBindingsIn(TEAM), {
      metadata: { name: RIGHTS },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: RIGHTS },
      subjects: [
        { kind: 'ServiceAccount', name: 'gatehouse-controller', namespace: INSTALL_NAMESPACE },
      ],
    });
  });
  afterAll(() => opened.disposeAsync());

  test('are made after their Route, renewed, and lost, and the Route is served all the time', async () => {
    await gateway.applyRoute('shop', {
      from: `https://${HOST}`,
      tls: { certificateRefs: [{ name: 'shop-tls' }] },
    });
    await gateway.untilCondition('shop', 'ResolvedRefs', 'False/SecretNotFound');
    await gateway.untilCondition('shop', 'Programmed', 'True/Programmed');
    expect(await hashes()).toEqual([undefined, undefined]);

    await gateway.admin.request('POST', SECRETS, secret(new Date(Date.now() + 3 * DAY_MS)));
    await gateway.untilCondition('shop', 'ResolvedRefs', 'True/ResolvedRefs');
    await gateway.untilCondition('shop', 'CertificatesValid', 'False/CertificateExpiresSoon');
    await eventually('an Event says so', async () =>
      (await eventsOf('shop')).includes('Warning CertificateExpiresSoon'),
    );
    const [first] = await hashes();
    const { status } = await gateway.route('shop');
    expect(status?.certificates).toMatchObject([{ secret: `${TEAM}/shop-tls` }]);

    await gateway.admin.request('PUT', `${SECRETS}/shop-tls`, secret());
    await gateway.untilCondition('shop', 'CertificatesValid', 'True/CertificatesValid');
    await eventually('every proxy has the new one', async () =>
      (await hashes()).every((hash) => hash !== undefined && hash !== first),
    );
    expect((await gateway.route('shop')).status).toMatchObject({
      configHash: status?.configHash,
      certificates: [{ secret: `${TEAM}/shop-tls`, notAfter: '2049-12-31T23:59:59Z' }],
    });

    await gateway.admin.request('DELETE', `${SECRETS}/shop-tls`);
    await gateway.untilCondition('shop', 'ResolvedRefs', 'False/SecretNotFound');
    await eventually('an Event says so', async () =>
      (await eventsOf('shop')).includes('Warning SecretNotFound'),
    );
    expect(await gateway.condition('shop', 'Programmed')).toBe('True/Programmed');
    expect(await gateway.condition('shop', 'CertificatesValid')).toBeUndefined();
  });

  test('never show their keys: not at /debug/snapshot, and in no log', async () => {
    const snapshots = await Promise.all(
      gateway.proxies.map(async (proxy) => (await proxy.admin('/debug/snapshot')).body),
    );
    const logs = [...gateway.controllers, ...gateway.proxies].flatMap(({ log }) => log);

    for (const text of [...snapshots, ...logs].map((each) => JSON.stringify(each))) {
      expect(text).not.toContain('PRIVATE KEY');
    }
  });

  test('of HTTP-01 are answered for by a Route to the Service of the solver', async () => {
    const solver = opened.use(
      await startUpstream((request, response) => response.end(`proof of ${request.url ?? ''}`)),
    );
    const service = opened.use(await startTcpService(() => [solver.port], address));
    const place = { namespace: TEAM, name: 'acme-solver' };
    await gateway.admin.apply(serviceManifest(place));
    await gateway.admin.apply(sliceManifest(place, { address, port: service.port }));
    await gateway.applyRoute('shop-acme', {
      from: `http://${HOST}`,
      regex: '/\\.well-known/acme-challenge/[^/]+',
      backendRefs: [{ name: place.name, port: SERVICE_PORT }],
    });
    const [proxy] = gateway.proxies;
    const path = '/.well-known/acme-challenge/token';

    await eventually(
      'the Route is served',
      async () => (await gateway.condition('shop-acme', 'Programmed')) === 'True/Programmed',
    );
    // A proxy that was not connected for a moment comes later.
    await eventually(
      'the solver answers',
      async () => (await proxy?.ask(HOST, path))?.body === `proof of ${path}`,
    );
    expect(await proxy?.ask(HOST, path)).toMatchObject({ body: `proof of ${path}` });
    await gateway.admin.request('DELETE', `${coreIn(TEAM, 'services')}/${place.name}`);
    await eventually('an Event says that the Route lost its backend', async () =>
      (await eventsOf('shop-acme')).includes('Warning BackendNotFound'),
    );
  });

  function secret(validTo?: Date): object {
    const { cert, key } = authority.issue([HOST], validTo && { validTo });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    return {
      metadata: { name: 'shop-tls' },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': base64(cert), 'tls.key': base64(key) },
    };
  }

  function hashes(): Promise<readonly (string | undefined)[]> {
    return Promise.all(gateway.proxies.map((proxy) => proxy.hashOf(KEY)));
  }

  async function eventsOf(route: string): Promise<readonly string[]> {
    const { items } = (await gateway.admin.request('GET', coreIn(TEAM, 'events'))) as {
      readonly items: readonly {
        readonly type: string;
        readonly reason: string;
        readonly involvedObject: { readonly name: string };
      }[];
    };
    return items
      .filter(({ involvedObject }) => involvedObject.name === route)
      .map(({ type, reason }) => `${type} ${reason}`);
  }
});
