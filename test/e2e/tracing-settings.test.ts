import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { Collector } from '../support/collector/collector.ts';
import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { INSTALL_NAMESPACE } from '../support/kubernetes/gateway-manifests.ts';
import { coreIn } from '../support/kubernetes/paths.ts';

const SECRETS = coreIn(INSTALL_NAMESPACE, 'secrets');
const KEYS = ['first-key-of-the-collector', 'second-key-of-the-collector'] as const;

describeEndToEnd('real', ['rbac', 'tokens'], 'tracing by the settings of a cluster', (open) => {
  const opened = new AsyncDisposableStack();
  let ofSettings: Collector;
  let ofEnvironment: Collector;
  let gateway: ClusterGateway;

  beforeAll(async () => {
    ofSettings = opened.use(await Collector.start());
    ofEnvironment = opened.use(await Collector.start());
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: ofEnvironment.endpoint('http/protobuf') };
    ({ gateway } = opened.use(
      await startClusterWorld(open, {
        controllers: 1,
        proxies: 2,
        proxyVariables: (index) => (index === 1 ? variables : {}),
      }),
    ));
    await gateway.changeSettings({
      tracing: {
        tracesExporter: 'otlp',
        tracesEndpoint: `${ofSettings.endpoint('http/protobuf')}/v1/traces`,
        headers: [
          {
            name: 'X-Api-Key',
            valueFrom: { secretKeyRef: { name: 'collector', key: 'api-key' } },
          },
        ],
        bspScheduleDelayMilliseconds: 100,
      },
    });
    await gateway.untilSettingsCondition('ResolvedRefs', 'False/TracingNotUsable');
    await gateway.untilSettingsCondition('Programmed', 'True/Programmed');
  });
  afterAll(() => opened.disposeAsync());

  test('begins in every process once the Secret is there, and the environment of a process wins', async () => {
    expect(await gateway.statuses('first')).toEqual([200, 200]);
    await writeSecret('POST', SECRETS, KEYS[0]);

    await gateway.untilSettingsCondition('ResolvedRefs', 'True/ResolvedRefs');
    await untilExported(ofSettings, KEYS[0]);
    await untilExported(ofEnvironment, KEYS[0]);
    expect(services(ofSettings)).toContain('gatehouse-proxy');
    expect(services(ofEnvironment)).toEqual(['gatehouse-proxy']);
  });

  test('has the value of a Secret that changed', async () => {
    await writeSecret('PATCH', `${SECRETS}/collector`, KEYS[1]);

    await untilExported(ofSettings, KEYS[1]);
    await untilExported(ofEnvironment, KEYS[1]);
    expect(await gateway.settingsCondition('Programmed')).toBe('True/Programmed');
  });

  test('shows the Secret in no log, status or Event', async () => {
    const members = [...gateway.controllers, ...gateway.proxies];
    const seen = JSON.stringify([
      members.map(({ log }) => log),
      await Promise.all(gateway.proxies.map(async (proxy) => proxy.served())),
      await gateway.settings(),
      await gateway.admin.request('GET', '/api/v1/events'),
    ]);
    for (const key of KEYS) expect(seen).not.toContain(key);
  });

  test('ends when the settings say so', async () => {
    await gateway.changeSettings({});
    await gateway.applyRoute('untraced');
    await gateway.untilServed('untraced');
    await gateway.untilSettingsCondition('Programmed', 'True/Programmed');
    const before = routes(ofSettings);

    expect(await gateway.statuses('untraced')).toEqual([200, 200]);
    for (const proxy of [...gateway.proxies]) await gateway.dropProxy(proxy);
    expect(routes(ofSettings)).toEqual(before);
  });

  async function untilExported(collector: Collector, key: string): Promise<void> {
    await eventually(`spans arrive with ${key}`, async () => {
      await gateway.statuses('first');
      return collector.exports.some(
        ({ headers, spans }) =>
          headers['x-api-key'] === key && spans.some(({ kind }) => kind === 'server'),
      );
    });
  }

  async function writeSecret(method: 'POST' | 'PATCH', path: string, key: string): Promise<void> {
    const data = { 'api-key': Buffer.from(key).toString('base64') };
    const labels = { 'gatehouse.dev/referable': 'true' };
    const body = { metadata: { name: 'collector', labels }, data };
    const headers = { 'content-type': 'application/merge-patch+json' };
    await gateway.admin.request(method, path, body, method === 'PATCH' ? headers : {});
  }
});

/** `service.name` of the spans of requests. */
function services(collector: Collector): readonly unknown[] {
  const ofRequests = collector.spans.filter(({ kind }) => kind === 'server');
  return [...new Set(ofRequests.map(({ resource }) => resource['service.name']))];
}

/** Routes whose requests were traced. */
function routes(collector: Collector): readonly unknown[] {
  const names = collector.spans.map(({ attributes }) => attributes['gatehouse.route.name']);
  return [...new Set(names)].sort();
}
