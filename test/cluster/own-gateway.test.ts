import { symlink } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { eventually } from '../support/eventually.ts';
import { describeOnNode } from '../support/node/describe-on-node.ts';
import {
  documentedBlocks,
  runDocumented,
  withoutAges,
} from '../support/node/documented-commands.ts';
import { applyObjects, kubectl } from '../support/node/kubectl.ts';
import {
  authorityObject,
  exampleHost,
  PROXIES_NAMESPACE,
  RELEASE_NAMESPACE,
  ROUTES_NAMESPACE,
  serviceObjects,
} from '../support/node/node-manifests.ts';
import { BALANCER_IP, nameHosts, NODE_IP } from '../support/node/node-names.ts';
import { NodeWorld } from '../support/node/node-world.ts';
import { release } from '../support/node/release.ts';
import { trustingFetch } from '../support/node/trusting-fetch.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = 'docs/install.md';
const TOOLS_HOST = exampleHost('tools');
const NAMESPACES = [RELEASE_NAMESPACE, PROXIES_NAMESPACE, ROUTES_NAMESPACE];

describeOnNode('a gateway of your own, as docs/install.md has it', () => {
  const opened = new AsyncDisposableStack();
  let world: NodeWorld;
  let directory: TemporaryDirectory;

  beforeAll(async () => {
    await deleteNamespaces();
    world = opened.use(await NodeWorld.open());
    await nameHosts(BALANCER_IP, [TOOLS_HOST]);
    await eventually('the provider is known by its name', async () => {
      const send = trustingFetch(world.authority.ca);
      return (await send(world.provider.issuer).catch(() => undefined)) !== undefined;
    });
    directory = opened.use(await TemporaryDirectory.create());
    await symlink(join(ROOT, 'charts'), join(directory.path, 'charts'));
    const { cert, key } = world.authority.issue([TOOLS_HOST]);
    await directory.write('tls.crt', cert);
    await directory.write('tls.key', key);
    await directory.write('ca.crt', world.authority.ca);
  });
  afterAll(async () => {
    await opened.disposeAsync();
    await release.uninstall();
    await deleteNamespaces();
  });

  test('has the issuer that the provider names', async () => {
    const [, curl = '', issuer = ''] = await commands('1. Register at the OpenID provider');

    expect(await run(curl)).toBe(adapted(issuer));
  });

  test('is installed, and says that nothing is missing', async () => {
    const [secrets, certificate] = await commands(
      '2. Give the cluster the client secret and a certificate',
    );
    await run(secrets);
    await run(certificate);
    await writeValues();
    const [install = '', table = ''] = await commands('3. Install');
    const [command = '', look = ''] = install.trim().split('\n');
    await run(command);

    expect(await untilPrinted(look, table)).toContain(withoutAges(table));
  });

  test('has an address for DNS', async () => {
    await release.balance();
    await eventually(
      'it is reached there',
      async () => (await world.statusOf('tools')) !== undefined,
    );
    const [look] = await commands('4. Name it in DNS');

    expect(await run(look)).toMatch(
      new RegExp(`^gatehouse-proxy +LoadBalancer .* ${BALANCER_IP} .*443:`, 'm'),
    );
  });

  test('has a Route that is programmed', async () => {
    const [sample = '', look = '', table = ''] = await commands('5. Create a Route');
    // The cluster has no way to the registry of the sample's image.
    const [createNamespace] = sample.split('\n');
    await run(createNamespace);
    await applyObjects(...serviceObjects('tools', world.mcpServer.port, 3001));
    const [route = ''] = await documentedBlocks(DOCUMENT, '5. Create a Route', 'yaml');
    await directory.write('route.yaml', adapted(route));
    const [apply = '', get = ''] = look.trim().split('\n');
    await run(apply);

    const expected = adapted(table);
    expect(await untilPrinted(get, expected)).toContain(withoutAges(expected));
  });

  test('challenges a client, and answers the tool call of one that signs in', async () => {
    const [curl = '', challenge = '', log] = await commands('6. Call a tool');
    const printed = (await run(curl)).replaceAll('\r', '');
    for (const line of adapted(challenge).trim().split('\n')) {
      expect(printed).toContain(line.replace(/, …$/, ''));
    }
    await using client = world.openClient(TOOLS_HOST);

    expect(await client.callTool('whoami')).toBe('notes');
    expect(await run(log)).toContain('"user":"alice","email":"alice@example.com","allow":true');
  });

  async function commands(heading: string): Promise<readonly string[]> {
    return await documentedBlocks(DOCUMENT, heading);
  }

  /** Puts the hosts and the secret of this world where a reader puts theirs. */
  function adapted(block: string): string {
    return block
      .replaceAll('https://login.example.com', world.provider.issuer)
      .replaceAll('tools.example.com', TOOLS_HOST)
      .replaceAll('CLIENT_SECRET', world.provider.clientSecret);
  }

  async function run(block = ''): Promise<string> {
    // The authority of a real certificate is known to curl.
    const trust = 'export CURL_CA_BUNDLE=ca.crt';
    return await runDocumented(`${trust}\n${adapted(block)}`, directory.path);
  }

  /** Runs a command until it prints this table, and returns what it printed. */
  async function untilPrinted(command: string, table: string): Promise<string> {
    let printed = '';
    await eventually(`${command} prints what is documented`, async () => {
      printed = withoutAges(await run(command));
      return printed.includes(withoutAges(table));
    });
    return printed;
  }

  /** Writes the documented values, and what this world needs besides: its provider is on the node, and not in the Internet. */
  async function writeValues(): Promise<void> {
    const [block = ''] = await documentedBlocks(DOCUMENT, '3. Install', 'yaml');
    const values = parse(adapted(block)) as InstallValues;
    const [provider] = values.settings.spec.identityProviders;
    Object.assign(provider, { clientId: world.provider.clientId, caRef: { name: 'provider-ca' } });
    const outboundAllowedCidrs = [`${NODE_IP}/32`];
    Object.assign(values.settings.spec, { outboundAllowedCidrs });
    await applyObjects(authorityObject('provider-ca', world.authority.ca));
    await directory.write('values.yaml', stringify(values));
  }
});

/** The part of the documented values that the test adds to. */
interface InstallValues {
  readonly settings: {
    readonly spec: { readonly identityProviders: readonly [object] };
  };
}

/** Deletes what an earlier test left, and waits until it is gone; proxies do not get the time to drain. */
async function deleteNamespaces(): Promise<void> {
  const pods = ['delete', 'pods', '--all', '--grace-period=0', '--force'];
  for (const namespace of NAMESPACES) await kubectl('--namespace', namespace, ...pods);
  await kubectl('delete', 'namespace', ...NAMESPACES, '--ignore-not-found');
}
