import { symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { eventually } from '../support/eventually.ts';
import { describeOnNode } from '../support/node/describe-on-node.ts';
import { documentedBlocks, runDocumented } from '../support/node/documented-commands.ts';
import { emptyCluster } from '../support/node/empty-cluster.ts';
import { applyObjects, kubectl } from '../support/node/kubectl.ts';
import {
  CERTIFICATE,
  CLIENT_SECRET,
  exampleHost,
  PROXIES_NAMESPACE,
  RELEASE_NAMESPACE,
  routeObject,
  ROUTES_NAMESPACE,
} from '../support/node/node-manifests.ts';
import { BALANCER_IP, NODE_IP } from '../support/node/node-names.ts';
import { NodeWorld } from '../support/node/node-world.ts';
import { writeOlderChart } from '../support/node/older-chart.ts';
import { namesOfProxies, proxyPods } from '../support/node/proxy-pods.ts';
import { RedisPod } from '../support/node/redis-pod.ts';
import { CHART, release, VALUES, type ChartValues } from '../support/node/release.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';
import { curl } from '../support/tls/curl.ts';

const OPERATIONS = 'docs/operations.md';
const NODE_PORT = 30_443;
const NODE = `${NODE_IP}:${String(NODE_PORT)}`;
const IN_TEAM = ['--namespace', ROUTES_NAMESPACE];
/** A public Route with a field that the older chart does not have. */
const NEWER_ROUTE = routeObject('newer', 'web', {
  allowPublicUnauthenticatedAccess: true,
  timeouts: { request: '10s' },
});

describeOnNode('a release with secrets of your own', () => {
  const opened = new AsyncDisposableStack();
  let world: NodeWorld;
  let directory: TemporaryDirectory;
  let redis: RedisPod | undefined;

  beforeAll(async () => {
    await emptyCluster();
    world = opened.use(await NodeWorld.open());
    await world.createNamespaces();
    directory = opened.use(await TemporaryDirectory.create());
    await directory.write('ca.crt', world.authority.ca);
    await symlink(dirname(CHART), join(directory.path, 'charts'));
  });
  afterAll(async () => {
    await opened.disposeAsync();
    await emptyCluster();
  });

  test('serves at the port of a node', async () => {
    const section = ['docs/kubernetes.md', 'GitOps and secrets of your own'] as const;
    const [secrets] = await documentedBlocks(...section);
    await run(secrets);
    const [block = ''] = await documentedBlocks(...section, 'yaml');
    await release.install(
      {
        ...VALUES,
        ...(parse(block) as ChartValues),
        // One of your own comes later.
        redis: {},
        rbac: { secretNames: [CLIENT_SECRET, CERTIFICATE] },
        proxy: {
          namespace: { create: false },
          service: { type: 'NodePort', nodePorts: { https: NODE_PORT } },
          autoscaling: { enabled: true, minReplicas: 2 },
          // Nothing is lost that the test looks at.
          drain: { delaySeconds: 1, timeoutSeconds: 5 },
        },
      },
      await writeOlderChart(directory.path),
    );
    await world.applySettings();
    await world.applyRoutes();

    await untilProgrammed('web');

    expect(await statusAt(NODE, 'web')).toBe(200);
  });

  test('has controllers that read no other Secret of their namespace', async () => {
    const controller = 'system:serviceaccount:gatehouse:gatehouse-controller';
    const inOwn = ['--namespace', RELEASE_NAMESPACE, '--as', controller];
    expect(await canI('list', `secrets/${CLIENT_SECRET}`, ...inOwn)).toBe('yes');
    expect(await canI('list', 'secrets', ...inOwn)).toBe('no');
    expect(await canI('list', 'secrets/push-tls', ...inOwn)).toBe('no');
  });

  test('has as many proxies as its autoscaler wants', async () => {
    const two = ['--for=jsonpath={.status.readyReplicas}=2', '--timeout=120s'];
    const deployment = ['--namespace', PROXIES_NAMESPACE, 'deployment/gatehouse-proxy'];
    await kubectl('wait', ...deployment, ...two);

    expect(await namesOfProxies()).toHaveLength(2);
  });

  test('gets new definitions before the Routes that need them', async () => {
    await expect(applyObjects(NEWER_ROUTE)).rejects.toThrow('.spec.timeouts');
    await release.upgrade({
      routes: [{ namespace: ROUTES_NAMESPACE, name: 'newer', spec: NEWER_ROUTE.spec }],
      proxy: { autoscaling: { minReplicas: 1 } },
    });

    await untilProgrammed('newer');
    const route = await kubectl('get', 'route', 'newer', '--output', 'yaml', ...IN_TEAM);
    expect(route).toContain('request: 10s');
    // The number is the autoscaler's.
    expect(await namesOfProxies()).toHaveLength(2);
  });

  test('is rolled back with its definitions', async () => {
    const [rollback] = await documentedBlocks(OPERATIONS, 'Roll back');
    await run(rollback);

    await expect(applyObjects(NEWER_ROUTE)).rejects.toThrow('.spec.timeouts');
    expect(await statusAt(NODE, 'web')).toBe(200);
  });

  test('moves to a Redis of your own, where everybody signs in again', async () => {
    await release.upgrade({ proxy: { service: { type: 'LoadBalancer' } } });
    await release.balance();
    await world.untilServed();
    const first = world.openClient();
    expect(await first.callTool('whoami')).toBe('notes');
    redis = await RedisPod.start(ROUTES_NAMESPACE);
    const [move = ''] = await documentedBlocks(OPERATIONS, 'Change the Redis');
    await run(move.replace(/url=\S+/, `url=${redis.url}`));
    await eventually('no proxy is left with the other one', async () =>
      (await proxyPods()).every(({ isEnding }) => !isEnding),
    );
    await world.untilCallsHave(401, first.accessToken);
    await first[Symbol.asyncDispose]();

    await using second = world.openClient();
    expect(await second.callTool('whoami')).toBe('notes');
    expect(await redis.numberOfKeys()).toBeGreaterThan(0);
    expect(await release.hooks()).not.toContain('kind: Job');
  });

  test('shares the cluster with another gateway', async () => {
    const [install] = await documentedBlocks(OPERATIONS, 'Several gateways in a cluster');
    await run(install);
    const { spec, ...inside } = routeObject('inside', 'web', {
      gatewayClassName: 'internal',
      allowPublicUnauthenticatedAccess: true,
    });
    // It may read no certificate of the other one.
    const plain = { ...spec, from: `http://${exampleHost('inside')}`, tls: undefined };
    await applyObjects({ ...inside, spec: plain });
    await untilProgrammed('inside');

    const service = 'gatehouse-internal-proxy.gatehouse-internal-proxy.svc';
    expect(await statusAt(`${service}:80`, 'inside', 'http')).toBe(200);
    expect(await statusAt(`${BALANCER_IP}:80`, 'inside', 'http')).toBe(421);
    expect(await statusAt(`${service}:80`, 'web', 'http')).toBe(421);
    await run('helm uninstall gatehouse-internal --namespace gatehouse-internal');
  });

  test('is removed with everything by the documented commands', async () => {
    const [uninstall, removeAll] = await documentedBlocks(OPERATIONS, 'Uninstall');
    await run(uninstall);
    expect(await kubectl('get', 'routes', '--output', 'name', ...IN_TEAM)).toContain('/mcp');
    await run(removeAll);

    expect(await kubectl('api-resources', '--api-group=gatehouse.dev')).not.toContain('routes');
    const namespaces = await kubectl('get', 'namespaces', '--output', 'name');
    expect(namespaces.split('\n')).not.toContain(`namespace/${PROXIES_NAMESPACE}`);
  });

  test('leaves nothing below an old prefix in a Redis of your own', async () => {
    const [, remove = ''] = await documentedBlocks(OPERATIONS, 'A key that somebody else may know');
    await redis?.run('redis-cli set other:key kept');
    expect(await redis?.numberOfKeys()).toBeGreaterThan(1);
    await redis?.run(remove);
    expect(await redis?.run('redis-cli --scan')).toBe('other:key\n');
  });

  /** Runs a documented block where the files that it makes are removed. */
  async function run(block: string | undefined): Promise<string> {
    return await runDocumented(block, directory.path);
  }

  /** Returns the status of a Route at an address, or 0. */
  async function statusAt(address: string, name: string, scheme = 'https'): Promise<number> {
    const trust = ['--cacert', join(directory.path, 'ca.crt')];
    const url = `${scheme}://${exampleHost(name)}`;
    return (await curl(url, ...trust, '--connect-to', `::${address}`)).status;
  }
});

/** Returns whether a user may do this: `yes` or `no`. */
async function canI(...args: readonly string[]): Promise<string> {
  // It fails if not.
  const answered = await runDocumented(`kubectl auth can-i ${args.join(' ')} || true`);
  return answered.trim();
}

async function untilProgrammed(route: string): Promise<void> {
  await kubectl('wait', 'route', route, ...IN_TEAM, '--for=condition=Programmed');
}
