import { beforeEach, expect, test } from '@jest/globals';

import { runInProcess } from '../support/command-line.ts';
import type { CommandResult } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { routesIn } from '../support/kubernetes/paths.ts';
import { openForAll } from '../support/open-for-all.ts';
import { aRoute, aSettings } from '../support/resources.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };
const POLICY = { allow: { or: [{ domain: 'example.com' }] } };

/** Settings of which nobody could read the Secrets: there are none. */
const SETTINGS = aSettings(
  {
    identityProviders: [
      {
        ...{ name: 'idp', issuerUrl: 'https://idp.example.com', clientId: 'gatehouse' },
        clientSecretRef: { name: 'identity-provider', key: 'client-secret' },
      },
    ],
    signingKeyRefs: [{ name: 'keys', key: 'key' }],
  },
  { name: 'gatehouse' },
);

describeWithClusters(['rbac', 'tokens'], 'gatehouse explain in a cluster', (openCluster) => {
  const cluster = openForAll(openCluster);
  /** Of the routes, and of the settings. */
  let namespace: string;
  let gateway: string;
  let kubeconfig: string;

  beforeEach(async () => {
    namespace = await createNamespace(cluster());
    gateway = await createNamespace(cluster());
    kubeconfig = await cluster().kubeconfigFor(namespace, 'operator');
    await create(settingsPath(), { ...SETTINGS, metadata: { name: 'gatehouse' } });
    await create(routesIn(namespace), aRoute({ policy: POLICY }, { namespace }));
  });

  const create = (path: string, object: object): Promise<unknown> =>
    cluster().admin.request('POST', path, object);

  const settingsPath = (): string =>
    `/apis/gatehouse.dev/v1alpha1/namespaces/${gateway}/gatewaysettings`;

  /** Lets the operator read resources of a namespace. */
  async function allow(where: string, resources: string, verb: string): Promise<void> {
    const metadata = { name: `read-${resources}` };
    const rules = [{ apiGroups: ['gatehouse.dev'], resources: [resources], verbs: [verb] }];
    await create(`${RBAC}/namespaces/${where}/roles`, { metadata, rules });
    await create(`${RBAC}/namespaces/${where}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: 'operator', namespace }],
    });
  }

  const explain = (...flags: readonly string[]): Promise<CommandResult> =>
    runInProcess([
      ...['explain', '--kubeconfig', kubeconfig, '--settings-namespace', gateway],
      ...['--route', `${namespace}/app`, '--email', 'alice@example.com', ...flags],
    ]);

  test('names the right that is missing', async () => {
    expect(await explain()).toMatchObject({
      code: 1,
      stderr: `gatehouse: you need the right to get gatewaysettings.gatehouse.dev in the namespace ${gateway}\n`,
    });

    await allow(gateway, 'gatewaysettings', 'get');
    const missing = `gatehouse: you need the right to list routes.gatehouse.dev in the namespace ${namespace}\n`;
    await eventually('the next right is missing', async () => {
      const { stderr } = await explain();
      return stderr === missing;
    });
  });

  test('explains with no other rights what serves, and shows what does not', async () => {
    await allow(gateway, 'gatewaysettings', 'get');
    await allow(namespace, 'routes', 'list');
    await eventually('the roles are known', async () => (await explain()).code === 0);
    const { stdout, stderr } = await explain();
    expect(stdout).toMatch(/^allow: domain-ok\n/);
    expect(stderr).toBe('');
    expect((await explain('--route', 'app', '--namespace', namespace)).code).toBe(0);

    // As after a controller reported the first generation, and somebody broke the second.
    const served = { generation: 1, spec: aRoute({ policy: POLICY }).spec };
    const path = `${routesIn(namespace)}/app`;
    const status = { served, gatewayClassName: 'gatehouse' };
    await cluster().admin.request('PATCH', `${path}/status`, { status }, MERGE_PATCH);
    const broken = { spec: { policy: { allow: { or: [{ domian: 'example.com' }] } } } };
    await cluster().admin.request('PATCH', path, broken, MERGE_PATCH);

    const again = await explain();
    expect(again.stdout).toMatch(/^allow: domain-ok\n/);
    expect(again.stderr).toMatch(
      new RegExp(`^gatehouse: Route ${namespace}/app: spec\\.policy\\.allow\\.or\\[0\\].*domian`),
    );
    expect((await explain('--user', 'b', '--email', 'b@example.org')).code).toBe(3);
  });

  test('says which settings and which routes there are not', async () => {
    await allow(gateway, 'gatewaysettings', 'get');
    await allow(namespace, 'routes', 'list');
    await eventually('the roles are known', async () => (await explain()).code === 0);

    const { stderr } = await explain('--settings', 'other');
    expect(stderr).toBe(
      `gatehouse: there are no GatewaySettings other in the namespace ${gateway}\n`,
    );
    const nowhere = await explain('--route', `${namespace}/nowhere`);
    expect(nowhere.stderr).toContain(
      `no Route ${namespace}/nowhere serves; there are ${namespace}/app`,
    );
    expect(nowhere.code).toBe(1);
  });

  test('reads the labels of the namespace if settings admit routes by them', async () => {
    const selector = { matchLabels: { team: 'a' } };
    const spec = {
      ...SETTINGS.spec,
      allowedRoutes: { namespaces: { from: 'Selector', selector } },
    };
    await cluster().admin.request('PATCH', `${settingsPath()}/gatehouse`, { spec }, MERGE_PATCH);
    await allow(gateway, 'gatewaysettings', 'get');
    await allow(namespace, 'routes', 'list');
    const missing = 'gatehouse: you need the right to get namespaces\n';
    await eventually('the next right is missing', async () => (await explain()).stderr === missing);

    const asAdmin = ['--kubeconfig', cluster().adminKubeconfig];
    const refused = await explain(...asAdmin);
    expect(refused.stderr).toMatch(/^gatehouse: Route \S+: .*namespace/);
    expect(refused.code).toBe(1);
    const labels = { metadata: { labels: { team: 'a' } } };
    await cluster().admin.request('PATCH', `/api/v1/namespaces/${namespace}`, labels, MERGE_PATCH);
    expect((await explain(...asAdmin)).code).toBe(0);
  });

  test('verifies the token of a ServiceAccount by the keys of the API server', async () => {
    const audience = 'https://gateway.example';
    const provider = { name: 'cluster', issuerUrl: 'kubernetes:///', audiences: [audience] };
    const spec = { identityProviders: [provider] };
    await create(settingsPath(), { ...SETTINGS, metadata: { name: 'workloads' }, spec });
    const agent = `system:serviceaccount:${namespace}:agent`;
    const policy = { allow: { or: [{ user: agent }] } };
    const from = 'https://jwt.example.com';
    const route = aRoute({ from, bearerTokenFormat: 'jwt', policy }, { namespace, name: 'jwt' });
    await create(routesIn(namespace), route);
    const ask = async (of: string, serviceAccount = 'agent'): Promise<CommandResult> =>
      runInProcess([
        ...['explain', '--kubeconfig', cluster().adminKubeconfig, '--route', `${namespace}/jwt`],
        ...['--settings-namespace', gateway, '--settings', 'workloads', '--token'],
        await cluster().proxyToken({
          namespace,
          serviceAccount,
          pod: serviceAccount,
          audience: of,
        }),
      ]);

    expect((await ask(audience)).stdout).toMatch(/^allow: user-ok\n/);
    expect((await ask(audience, 'other')).stdout).toMatch(/^deny: user-unauthorized /);
    expect((await ask('https://other.example')).stdout).toMatch(/^deny: wrong-audience /);
  });
});
