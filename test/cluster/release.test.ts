import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { describeOnNode } from '../support/node/describe-on-node.ts';
import { documentedCommands, runDocumented } from '../support/node/documented-commands.ts';
import { kubectl } from '../support/node/kubectl.ts';
import type { LiveSession } from '../support/node/live-session.ts';
import {
  PROXIES_NAMESPACE,
  RELEASE_NAMESPACE,
  ROUTES_NAMESPACE,
} from '../support/node/node-manifests.ts';
import { NodeWorld } from '../support/node/node-world.ts';
import { runPortForward } from '../support/node/port-forward.ts';
import { release, VALUES } from '../support/node/release.ts';
import { runCommand } from '../support/node/run-command.ts';
import type { Traffic } from '../support/node/traffic.ts';

const SECOND = 1000;
const IN_TEAM = ['--namespace', ROUTES_NAMESPACE];

describeOnNode('a release of the chart', () => {
  const opened = new AsyncDisposableStack();
  let world: NodeWorld;
  let session: LiveSession | undefined;
  let traffic: Traffic | undefined;
  let token: string;

  beforeAll(async () => {
    world = opened.use(await NodeWorld.open());
    await world.createNamespaces();
  });
  afterAll(() => opened.disposeAsync());

  test('goes from an empty cluster to a tool call over HTTPS', async () => {
    const began = performance.now();
    await release.install(VALUES);
    await release.balance();
    const installed = performance.now();
    expect(await world.statusOf()).not.toBe(200);
    await world.applySettings();
    await world.applyRoutes();
    await world.untilServed();
    const client = opened.use(world.openClient());

    expect(await client.callTool('whoami')).toBe('notes');
    console.info(
      `from an empty cluster: installed after ${seconds(installed - began)}, first tool call after ${seconds(performance.now() - began)}`,
    );
    token = client.accessToken;
  });

  test('passes helm test', async () => {
    const [look = ''] = await documentedCommands('Look at it');

    expect(await runDocumented(look)).toContain('Phase:          Succeeded');
    await beginTraffic(token);
  });

  test('is upgraded and rolled back without a failed request', async () => {
    const before = await namesOfProxies();
    await release.upgrade({ proxy: { podAnnotations: { 'example.test/change': 'upgrade' } } });
    const upgraded = await namesOfProxies();
    expect(upgraded.filter((name) => before.includes(name))).toEqual([]);
    const [upgrade] = await documentedCommands('Upgrade');
    await runDocumented(upgrade);
    const [rollback] = await documentedCommands('Roll back');
    await runDocumented(rollback);

    await expectNoLoss();
  });

  test('is scaled up and down without a failed request', async () => {
    const [scale = ''] = await documentedCommands('Scale');
    await runDocumented(scale);
    expect(await namesOfProxies()).toHaveLength(3);
    await runDocumented(scale.replace('proxy.replicas=3', 'proxy.replicas=1'));
    expect(await namesOfProxies()).toHaveLength(1);

    await expectNoLoss();
  });

  // Before the rotation of its certificate, which takes a minute to reach pods that connect again.
  test('has another controller that leads when the one that leads is killed', async () => {
    const killed = await leader();
    const pod = ['--namespace', RELEASE_NAMESPACE, 'delete', 'pod', killed];
    const began = performance.now();
    await kubectl(...pod, '--grace-period=0', '--force');
    await eventually('another one leads', async () => (await leader()) !== killed);
    await world.applyLateRoute('after-failover');

    console.info(
      `another controller: a new Route served ${seconds(performance.now() - began)} after`,
    );
    await expectNoLoss();
  });

  test('gets another sealing key by the documented commands, and users stay signed in', async () => {
    const [add, seal, remove, show] = await documentedCommands('Rotate the sealing key');
    const before = await runDocumented(show);
    await runDocumented(add);
    await runDocumented(seal);
    await eventually('no proxy is left that seals with the old key', async () => {
      const select = ['get', 'pods', '--selector', 'app.kubernetes.io/component=proxy'];
      const output = ['--output', 'jsonpath={.items[*].metadata.deletionTimestamp}'];
      return (await kubectl('--namespace', PROXIES_NAMESPACE, ...select, ...output)).trim() === '';
    });
    await expectNoLoss();
    // The old key opens tokens until it is removed.
    const client = opened.use(world.openClient());
    expect(await client.callTool('whoami')).toBe('notes');
    await beginTraffic(client.accessToken);
    await runDocumented(remove);

    expect(sealingKeyIn(await runDocumented(show))).not.toBe(sealingKeyIn(before));
    expect(await client.callTool('whoami')).toBe('notes');
    expect(client.authorizations).toBe(1);
    await expectNoLoss();
  });

  test('gets another certificate of the controllers by the documented commands', async () => {
    const [rotate, show] = await documentedCommands('Rotate the certificate of the controllers');
    const before = await runDocumented(show);
    await runDocumented(rotate);
    expect(await runDocumented(show)).not.toBe(before);

    await world.applyLateRoute('after-rotation');
    await expectNoLoss();
  });

  test('gets another certificate for clients without a restart', async () => {
    const before = await world.presentedCertificate();
    await world.applyCertificate();

    await eventually('the proxies present it', async () => {
      return (await world.presentedCertificate()) !== before;
    });
    await expectNoLoss();
  });

  test('reports a Route that loses its backend, by its status and an Event', async () => {
    await world.applyLateRoute('losing');
    await kubectl(...IN_TEAM, 'delete', 'service', 'losing');

    await eventually('it answers 503', async () => (await world.statusOf('losing')) === 503);
    await eventually('its status says why', async () =>
      (await kubectl(...IN_TEAM, 'get', 'route', 'losing', '--output', 'yaml')).includes(
        'reason: BackendNotFound',
      ),
    );
    const events = ['get', 'events', '--field-selector', 'involvedObject.name=losing'];
    await eventually('an Event says why', async () =>
      (await kubectl(...IN_TEAM, ...events)).includes('BackendNotFound'),
    );
    await expectNoLoss();
  });

  test('leaves definitions, Routes and keys when it is uninstalled', async () => {
    await traffic?.[Symbol.asyncDispose]();
    // It hears the last number. What it missed is measured by bench-rolling-restart.
    const missed = await session?.missedUpTo(world.mcpServer.lastNumber());
    console.info(`the session missed ${String(missed?.length)} events of its stream`);
    const [uninstall] = await documentedCommands('Uninstall');
    await runDocumented(uninstall);

    expect(await namesOfProxies()).toEqual([]);
    expect(await kubectl(...IN_TEAM, 'get', 'routes', '--output', 'name')).toContain('/mcp');
    const keys = ['get', 'secret', 'gatehouse-sealing-keys', '--output', 'name'];
    expect(await kubectl('--namespace', PROXIES_NAMESPACE, ...keys)).toContain('gatehouse');
  });

  test('is installed again, with the demo for a port-forward', async () => {
    const notes = await release.install({
      ...VALUES,
      demo: { enabled: true },
      controller: { replicas: 1 },
      proxy: { replicas: 1 },
    });
    const [command = ''] = /^ +kubectl .* port-forward .*$/m.exec(notes) ?? [];
    await using forwarding = new AsyncDisposableStack();
    forwarding.use(runPortForward(command));
    const client = ['cli/demo/client/main.ts', '--as', 'alice'];
    await eventually('the demo answers', async () => {
      return (await fetch('http://localhost:8080').catch(() => undefined)) !== undefined;
    });

    expect(await runCommand(process.execPath, client)).toContain('INV-1003');
  });

  async function beginTraffic(accessToken: string): Promise<void> {
    await traffic?.[Symbol.asyncDispose]();
    session = opened.use(await world.beginSession(accessToken));
    traffic = opened.use(world.startTraffic(session));
  }

  async function expectNoLoss(): Promise<void> {
    await session?.callTool();
    expect(traffic?.failures).toEqual([]);
  }
});

async function namesOfProxies(): Promise<readonly string[]> {
  const select = ['get', 'pods', '--selector', 'app.kubernetes.io/component=proxy'];
  const list = await kubectl('--namespace', PROXIES_NAMESPACE, ...select, '--output', 'json');
  // The form of every list of objects.
  const { items } = JSON.parse(list) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
    }[];
  };
  return items.flatMap(({ metadata: { name, deletionTimestamp } }) =>
    deletionTimestamp === undefined ? [name] : [],
  );
}

/** Returns the pod of the controller that leads. */
async function leader(): Promise<string> {
  const lease = [
    'get',
    'lease',
    'gatehouse-controller',
    '--output',
    'jsonpath={.spec.holderIdentity}',
  ];
  return (await kubectl('--namespace', RELEASE_NAMESPACE, ...lease)).replace(/_.*/, '');
}

/** Returns the name of the key that seals, from lines of a proxy's log. */
function sealingKeyIn(lines: string): string {
  return /"seals":"([^"]+)"/.exec(lines)?.[1] ?? '';
}

function seconds(ms: number): string {
  return `${(ms / SECOND).toFixed(1)} s`;
}
