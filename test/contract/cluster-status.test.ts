import { beforeEach, expect, test } from '@jest/globals';

import { runInProcess } from '../support/command-line.ts';
import type { CommandResult } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { leasesIn, routesIn } from '../support/kubernetes/paths.ts';
import { openForAll } from '../support/open-for-all.ts';
import { aRoute, aSettings } from '../support/resources.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };
const TIME = '2026-01-01T00:00:00Z';

/** A right: verb, group, resource. */
type Right = readonly [verb: string, apiGroup: string, resource: string];

function condition(type: string, status: 'True' | 'False', reason: string = type): object {
  return { type, status, reason, message: `${type} is so.`, lastTransitionTime: TIME };
}

const SERVING = ['Accepted', 'ResolvedRefs', 'Programmed'].map((type) => condition(type, 'True'));

describeWithClusters(['rbac', 'tokens'], 'the state of a gateway in a cluster', (openCluster) => {
  const cluster = openForAll(openCluster);
  /** Of the routes, and of the settings. */
  let namespace: string;
  let gateway: string;
  let gatewayClass: string;
  let kubeconfig: string;

  beforeEach(async () => {
    namespace = await createNamespace(cluster());
    gateway = await createNamespace(cluster());
    // Tests share the cluster, and each looks at all namespaces.
    gatewayClass = gateway;
    kubeconfig = await cluster().kubeconfigFor(namespace, 'operator');
    await createSettings();
    await createLease();
    await createRoute('a', SERVING);
  });

  const create = (path: string, object: object): Promise<unknown> =>
    cluster().admin.request('POST', path, object);

  async function patchStatus(path: string, status: object): Promise<void> {
    await cluster().admin.request('PATCH', `${path}/status`, { status }, MERGE_PATCH);
  }

  async function createSettings(): Promise<void> {
    const path = `/apis/gatehouse.dev/v1alpha1/namespaces/${gateway}/gatewaysettings`;
    await create(
      path,
      aSettings({ gatewayClassName: gatewayClass }, { namespace: gateway, name: 'gatehouse' }),
    );
    await patchStatus(`${path}/gatehouse`, {
      ...{ observedGeneration: 1, conditions: SERVING },
      proxies: { connected: 2, ready: 2, synced: 2, rejected: 0 },
      snapshot: { revision: '3.9', hash: 'abc', time: TIME },
    });
  }

  async function createLease(): Promise<void> {
    const metadata = { name: `gatehouse-controller-${gatewayClass}`, namespace: gateway };
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'controller-0_0123456789abcdef', leaseDurationSeconds: 600 };
    const apiVersion = 'coordination.k8s.io/v1';
    const lease = { apiVersion, kind: 'Lease', metadata, spec: { ...spec, renewTime } };
    await create(leasesIn(gateway), lease);
  }

  async function createRoute(name: string, conditions: readonly object[]): Promise<void> {
    const spec = {
      from: `https://${name}.${namespace}.example.com`,
      gatewayClassName: gatewayClass,
    };
    await create(routesIn(namespace), aRoute(spec, { namespace, name }));
    await patchStatus(`${routesIn(namespace)}/${name}`, {
      ...{ gatewayClassName: gatewayClass, observedGeneration: 1, conditions },
    });
  }

  /** Gives the operator rights in a namespace; in all without one. */
  async function allow(where: string | undefined, ...rights: readonly Right[]): Promise<void> {
    const scope = where === undefined ? 'Cluster' : '';
    const path = where === undefined ? RBAC : `${RBAC}/namespaces/${where}`;
    const metadata = { name: `${namespace}-reads` };
    const rules = rights.map(([verb, apiGroup, resource]) => ({
      ...{ verbs: [verb], apiGroups: [apiGroup], resources: [resource] },
    }));
    await create(`${path}/${scope.toLowerCase()}roles`, { metadata, rules });
    await create(`${path}/${scope.toLowerCase()}rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: `${scope}Role`, name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: 'operator', namespace }],
    });
  }

  const ask = (command: string, as: string, ...flags: readonly string[]): Promise<CommandResult> =>
    runInProcess([
      ...[command, '--kubeconfig', as, '--settings-namespace', gateway],
      ...['--gateway-class', gatewayClass, ...flags],
    ]);
  const asAdmin = (command: string, ...flags: readonly string[]): Promise<CommandResult> =>
    ask(command, cluster().adminKubeconfig, ...flags);

  test('shows a gateway without problems, and exits with 0', async () => {
    const { code, stdout, stderr } = await asAdmin('status');

    expect(stderr).toBe('');
    expect(stdout).toContain(`Gateway ${gateway}/gatehouse: no problems\n`);
    expect(stdout).toMatch(/^Snapshot +3\.9, published \d+d ago$/m);
    expect(stdout).toMatch(/^Proxies +2 connected, 2 ready, 2 with the newest snapshot$/m);
    expect(stdout).toMatch(/^Leader +controller-0, renewed \d+s ago$/m);
    expect(stdout).toMatch(/^Routes +1 in all namespaces: 1 serving$/m);
    expect(code).toBe(0);
  });

  test('exits with 1 when a Route has a problem, also as JSON and YAML', async () => {
    await createRoute('b', [condition('Accepted', 'False', 'HostConflict')]);
    const problem = {
      ...{ about: `Route ${namespace}/b`, reason: 'HostConflict', message: 'Accepted is so.' },
    };

    const json = await asAdmin('status', '-o', 'json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ problems: [problem], routes: { namespace: '*', total: 2, serving: 1, problem: 1 } },
    });
    const yaml = await asAdmin('status', '--output=yaml', '-n', namespace);
    expect(yaml.code).toBe(1);
    expect(yaml.stdout).toContain('reason: HostConflict\n');
    expect(yaml.stdout).toContain(`namespace: ${namespace}\n`);
    expect((await asAdmin('status', '-n', gateway)).code).toBe(0);
  });

  test('says that there are no settings, and that nobody has led', async () => {
    const { code, stdout } = await asAdmin('status', '--settings', 'other', '--gateway-class', 'x');

    expect(stdout).toContain(`there are no GatewaySettings other in the namespace ${gateway}`);
    expect(stdout).toContain('No controller has ever led.');
    expect(code).toBe(1);
  });

  test('reads no more than the rights of the caller permit, and says what it left out', async () => {
    const nothing = await ask('status', kubeconfig);
    expect(nothing.code).toBe(1);
    expect(nothing.stdout).toBe('');
    expect(nothing.stderr).toContain(
      `you need the right to get gatewaysettings.gatehouse.dev in the namespace ${gateway}\n`,
    );

    await allow(namespace, ['list', 'gatehouse.dev', 'routes']);
    await eventually('the role is known', async () => {
      return (await ask('status', kubeconfig, '-n', namespace)).code === 0;
    });
    const { stdout } = await ask('status', kubeconfig, '-n', namespace);
    expect(stdout).toContain('Note: you need the right to get leases.coordination.k8s.io');
    expect(stdout).toMatch(/^Routes +1 in the namespace /m);
    expect(stdout).not.toMatch(/^(Leader|Proxies|Settings)/m);
    const all = await ask('routes', kubeconfig, '-A');
    expect(all.code).toBe(1);
    expect(all.stderr).toBe(
      'gatehouse: you need the right to list routes.gatehouse.dev in all namespaces; or name one of them with --namespace\n',
    );
  });

  test('needs three rights for everything', async () => {
    await allow(undefined, ['list', 'gatehouse.dev', 'routes']);
    await allow(
      gateway,
      ['get', 'gatehouse.dev', 'gatewaysettings'],
      ['get', 'coordination.k8s.io', 'leases'],
    );
    await eventually('the roles are known', async () => {
      return !(await ask('status', kubeconfig)).stdout.includes('Note:');
    });
    expect(await ask('status', kubeconfig)).toMatchObject({ code: 0, stderr: '' });
  });

  test('lists Routes as a table', async () => {
    await createRoute('b', [condition('Accepted', 'False', 'HostConflict')]);
    const { code, stdout } = await asAdmin('routes', '-n', namespace);

    const from = (name: string): string => `https://${name}.${namespace}.example.com`;
    const columns = stdout.split('\n').map((line) => line.split(/ {3,}/));
    expect(columns.slice(0, 3)).toEqual([
      ['NAME', 'FROM', 'KIND', 'ACCEPTED', 'PROGRAMMED', 'REASON', 'AGE'],
      ['a', from('a'), 'web', 'True', 'True', expect.stringMatching(/^\d+s$/)],
      ['b', from('b'), 'web', 'False', 'Unknown', 'HostConflict', expect.stringMatching(/^\d+s$/)],
    ]);
    expect(code).toBe(0);
  });

  test('lists Routes by host and by problem, in all namespaces, wide and as JSON', async () => {
    await createRoute('b', [condition('Accepted', 'False', 'HostConflict')]);
    const wide = await asAdmin('routes', '-A', '--problems', '-o', 'wide');
    expect(wide.stdout).toMatch(/^NAMESPACE +NAME .* TO +MESSAGE\n\S+ +b .* Accepted is so\.\n$/s);

    const ofHost = await asAdmin('routes', '-A', '--host', `a.${namespace}.example.com`, '-ojson');
    expect(JSON.parse(ofHost.stdout)).toMatchObject([
      { namespace, name: 'a', from: `https://a.${namespace}.example.com`, state: 'serving' },
    ]);
    const none = await asAdmin('routes', '-n', gateway);
    expect(none).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `No Routes found in the namespace ${gateway}.\n`,
    });
  });

  test.each(['-o=xml', '--output=table'])('refuses the output %s', async (flag) => {
    expect((await asAdmin('status', flag)).code).toBe(2);
  });

  test('gatehouse doctor reads the settings of a cluster that is named, also for a URL', async () => {
    const named = await asAdmin('doctor', 'https://mcp.example.com', '--settings', 'other');

    expect(named.stderr).toBe(
      `gatehouse: there are no GatewaySettings other in the namespace ${gateway}\n`,
    );
  });

  test('finds the Route of a URL in all namespaces', async () => {
    const url = `https://a.${namespace}.example.com/`;
    const { code, stdout } = await asAdmin('explain', '--url', url, '--email', 'a@example.com');

    expect(stdout).toContain(`route    ${namespace}/a (web)`);
    expect(code).toBe(0);
  });
});
