import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { GatewaySettings } from '../../crds/types.ts';
import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import {
  INSTALL_NAMESPACE,
  PROXY_NAMESPACE,
  TEAM,
} from '../support/kubernetes/gateway-manifests.ts';
import { coreIn } from '../support/kubernetes/paths.ts';

/** Longer than the controller gathers changes. */
const SETTLED_MS = 2000;

const WITH_SECRET: GatewaySettings['spec'] = {
  identityProviders: [
    {
      name: 'company',
      issuerUrl: 'https://idp.example.test',
      clientId: 'gatehouse',
      clientSecretRef: { name: 'company', key: 'client-secret' },
    },
  ],
};
const SECRETS = coreIn(INSTALL_NAMESPACE, 'secrets');
const FIRST_SECRET = 'first-secret-of-the-client';
const SECOND_SECRET = 'second-secret-of-the-client';
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

describeEndToEnd('real', ['rbac', 'tokens'], 'settings in a cluster', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let gateway: ClusterGateway;

  beforeAll(async () => {
    ({ gateway } = opened.use(
      await startClusterWorld(openCluster, {
        controllers: 1,
        proxies: 2,
        controllerFlags: ['--deletion-delay', '0s'],
      }),
    ));
  });
  afterAll(() => opened.disposeAsync());

  test('report how many proxies serve, and which snapshot', async () => {
    await gateway.applyRoute('counted');
    await gateway.untilCondition('counted', 'Programmed', 'True/Programmed');
    const [proxy] = gateway.proxies;
    const served = await proxy?.served();

    await eventually('all proxies are counted', async () => {
      const { status } = await gateway.settings();
      return status?.snapshot?.revision === served?.position && status?.proxies?.synced === 2;
    });
    const { status } = await gateway.settings();
    expect(status).toMatchObject({
      proxies: { connected: 2, ready: 2, synced: 2, rejected: 0 },
      snapshot: { revision: served?.position, hash: served?.version },
    });
    expect(status?.attachedRoutes).toBeGreaterThanOrEqual(2);
    expect(await gateway.settingsCondition('Programmed')).toBe('True/Programmed');
  });

  test('report the addresses of the Service in front of the proxies', async () => {
    const services = coreIn(PROXY_NAMESPACE, 'services');
    await gateway.admin.request('POST', services, {
      metadata: { name: 'gatehouse-proxy' },
      spec: { type: 'LoadBalancer', ports: [{ port: 443 }] },
    });
    const ingress = [{ ip: '192.0.2.10' }, { hostname: 'gateway.example.test' }];
    const status = { loadBalancer: { ingress } };
    await gateway.admin.request(
      ...(['PATCH', `${services}/gatehouse-proxy/status`, { status }] as const),
      MERGE_PATCH,
    );

    await eventually('both addresses are there', async () => {
      const { addresses = [] } = (await gateway.settings()).status ?? {};
      return addresses.length === 2;
    });
    expect((await gateway.settings()).status?.addresses).toEqual([
      { type: 'IPAddress', value: '192.0.2.10' },
      { type: 'Hostname', value: 'gateway.example.test' },
    ]);
  });

  describe('with an identity provider whose Secret is missing', () => {
    test('keep serving as before, and report that', async () => {
      await gateway.changeSettings(WITH_SECRET);

      await gateway.untilSettingsCondition('ResolvedRefs', 'False/SecretNotFound');
      expect(await gateway.settingsCondition('Programmed')).toBe('False/Invalid');
      expect(await gateway.settingsCondition('PartiallyInvalid')).toBe('True/ServedGeneration');
      expect((await gateway.settings()).status?.served).toMatchObject({ generation: 1 });
      await gateway.applyRoute('meanwhile');
      await gateway.untilServed('meanwhile');
    });

    test('publish nothing if nothing was published before, and everything once the Secret is there', async () => {
      await gateway.deleteSettings();
      await eventually('no route serves without settings', async () =>
        (await gateway.statuses('first')).every((status) => status === 421),
      );
      await gateway.createSettings(WITH_SECRET);
      await gateway.untilSettingsCondition('ResolvedRefs', 'False/SecretNotFound');
      expect(await gateway.settingsCondition('Programmed')).toBe('False/Invalid');
      const before = await positions();
      await gateway.applyRoute('waiting');
      await gateway.applyRoute('first', { prefix: '/elsewhere' });

      // By then everything that may be published is published.
      await wait(SETTLED_MS);
      expect(await positions()).toEqual(before);
      expect((await gateway.route('first')).status).toMatchObject({ observedGeneration: 1 });
      expect(await gateway.statuses('first')).toEqual([421, 421]);
      expect(await gateway.statuses('waiting')).toEqual([421, 421]);

      await writeSecret('POST', SECRETS, FIRST_SECRET);
      await gateway.untilServed('waiting');
      await gateway.untilSettingsCondition('Programmed', 'True/Programmed');
      expect(await gateway.settingsCondition('ResolvedRefs')).toBe('True/ResolvedRefs');
      await eventually('the change is programmed', async () => {
        const { status } = await gateway.route('first');
        return status?.programmedGeneration === 2;
      });
      await gateway.applyRoute('first');
      await gateway.untilServed('first');
    });

    test('publish a changed Secret to every proxy without changing a route', async () => {
      const before = await resources();

      await writeSecret('PATCH', `${SECRETS}/company`, SECOND_SECRET);

      await eventually('every proxy has a changed configuration', async () =>
        (await resources()).every((resource, index) => resource !== before[index]),
      );
      const routes = (texts: readonly string[]): readonly unknown[] =>
        texts.map((text) => text.match(/"route\/[^}]*/g));
      expect(routes(await resources())).toEqual(routes(before));
    });

    test('show the Secret in no log, status or Event', async () => {
      const members = [...gateway.controllers, ...gateway.proxies];
      const seen = JSON.stringify([
        members.map(({ log }) => log),
        await resources(),
        await gateway.settings(),
        await gateway.admin.request('GET', '/api/v1/events'),
      ]);
      for (const secret of [FIRST_SECRET, SECOND_SECRET]) {
        expect(seen).not.toContain(secret);
        expect(seen).not.toContain(Buffer.from(secret).toString('base64'));
      }
    });
  });

  test('serve without tracing while its Secret is missing', async () => {
    const secretKeyRef = { name: 'collector', key: 'client-secret' };
    const tracing = {
      tracesExporter: 'otlp',
      endpoint: 'http://127.0.0.1:1',
      headers: [{ name: 'x-api-key', valueFrom: { secretKeyRef } }],
    } as const;
    await gateway.changeSettings({ ...WITH_SECRET, tracing });

    await gateway.untilSettingsCondition('ResolvedRefs', 'False/TracingNotUsable');
    await gateway.untilSettingsCondition('Programmed', 'True/Programmed');
    const before = await resources();
    await writeSecret('POST', SECRETS, FIRST_SECRET, 'collector');

    await gateway.untilSettingsCondition('ResolvedRefs', 'True/ResolvedRefs');
    expect(await gateway.settingsCondition('Accepted')).toBe('True/Accepted');
    await eventually('every proxy has the value', async () =>
      (await resources()).every((resource, index) => resource !== before[index]),
    );
    await gateway.changeSettings(WITH_SECRET);
  });

  test('leave out routes of namespaces that they do not select, as labels change', async () => {
    await gateway.applyRoute('selected');
    await gateway.untilServed('selected');
    await gateway.changeSettings({
      allowedRoutes: {
        namespaces: { from: 'Selector', selector: { matchLabels: { exposed: 'yes' } } },
      },
    });

    await gateway.untilCondition('selected', 'Accepted', 'False/NotAllowedByGateway');
    await untilAnswered('selected', 421);
    await label({ exposed: 'yes' });
    await gateway.untilServed('selected');
    await gateway.untilCondition('selected', 'Accepted', 'True/Accepted');
    await label({ exposed: null });
    await untilAnswered('selected', 421);
    await gateway.untilCondition('first', 'Accepted', 'False/NotAllowedByGateway');
    expect(await gateway.condition('first', 'Accepted')).toBe('False/NotAllowedByGateway');

    await gateway.changeSettings({});
    await gateway.untilServed('selected');
  });

  test('a change of Accepted is reported by one Event', async () => {
    await gateway.applyRoute('unchanged');
    await gateway.applyRoute('changing');
    await gateway.untilCondition('changing', 'Programmed', 'True/Programmed');
    await gateway.applyRoute('changing', { regex: '(?=a)$' });
    await gateway.untilCondition('changing', 'Accepted', 'False/InvalidRegex');
    await gateway.applyRoute('changing');
    await gateway.untilCondition('changing', 'Programmed', 'True/Programmed');

    await eventually(
      'both Events are there',
      async () => (await eventsOf('changing')).length === 2,
    );
    expect(await eventsOf('changing')).toEqual(['Normal Accepted', 'Warning InvalidRegex']);
    expect(await eventsOf('unchanged')).toEqual([]);
  });

  async function positions(): Promise<readonly unknown[]> {
    return Promise.all(gateway.proxies.map(async (proxy) => (await proxy.served()).position));
  }

  /** Keys and hashes of the resources that each proxy serves, as text. */
  async function resources(): Promise<readonly string[]> {
    const served = gateway.proxies.map(async (proxy) => (await proxy.served()).resources);
    return (await Promise.all(served)).map((each) => JSON.stringify(each));
  }

  async function untilAnswered(route: string, status: number): Promise<void> {
    await eventually(`${route} is answered with ${String(status)}`, async () =>
      (await gateway.statuses(route)).every((each) => each === status),
    );
  }

  async function writeSecret(
    method: 'POST' | 'PATCH',
    path: string,
    value: string,
    name = 'company',
  ): Promise<void> {
    const data = { 'client-secret': Buffer.from(value).toString('base64') };
    const labels = { 'gatehouse.dev/referable': 'true' };
    const body = { metadata: { name, labels }, data };
    await gateway.admin.request(method, path, body, method === 'PATCH' ? MERGE_PATCH : {});
  }

  async function label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    const body = { metadata: { labels } };
    await gateway.admin.request('PATCH', `/api/v1/namespaces/${TEAM}`, body, MERGE_PATCH);
  }

  async function eventsOf(route: string): Promise<readonly string[]> {
    const { items } = (await gateway.admin.request('GET', coreIn(TEAM, 'events'))) as {
      readonly items: readonly {
        readonly type: string;
        readonly reason: string;
        readonly involvedObject: { readonly kind: string; readonly name: string };
      }[];
    };
    return items
      .filter(({ involvedObject: { kind, name } }) => kind === 'Route' && name === route)
      .map(({ type, reason }) => `${type} ${reason}`)
      .sort();
  }
});
