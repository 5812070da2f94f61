import { symlink } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import type { ClientWithUser } from '../support/client-with-user.ts';
import { eventually } from '../support/eventually.ts';
import { describeOnNode } from '../support/node/describe-on-node.ts';
import {
  documentedBlocks,
  runDocumented,
  withoutAges,
} from '../support/node/documented-commands.ts';
import { emptyCluster } from '../support/node/empty-cluster.ts';
import { applyObjects, kubectl } from '../support/node/kubectl.ts';
import {
  authorityObject,
  exampleHost,
  PROXIES_NAMESPACE,
  serviceObjects,
} from '../support/node/node-manifests.ts';
import { BALANCER_IP, nameHosts, NODE_IP } from '../support/node/node-names.ts';
import { NodeWorld } from '../support/node/node-world.ts';
import { release } from '../support/node/release.ts';
import { trustingFetch } from '../support/node/trusting-fetch.ts';
import { makeVolumes } from '../support/node/volumes.ts';
import { TemporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = 'docs/install.md';
const USERS_DOCUMENT = 'docs/operate-users.md';
const TOOLS_HOST = exampleHost('tools');

describeOnNode('a gateway of your own, as docs/install.md has it', () => {
  const opened = new AsyncDisposableStack();
  let world: NodeWorld;
  let directory: TemporaryDirectory;
  let client: ClientWithUser;

  beforeAll(async () => {
    await emptyCluster();
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
    // A claim does not get the volume of another one that was deleted.
    await makeVolumes(directory.path, ['first', 'second']);
  });
  afterAll(async () => {
    await opened.disposeAsync();
    await emptyCluster();
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
    client = opened.use(await signIn());

    expect(await run(log)).toContain('"user":"alice","email":"alice@example.com","allow":true');
  });

  test('keeps users signed in when its Redis, which has a volume, starts again', async () => {
    const redis = ['pod', 'gatehouse-redis-0', '--namespace', PROXIES_NAMESPACE];
    await kubectl('delete', ...redis);
    await kubectl('wait', ...redis, '--for=condition=Ready', '--timeout=120s');
    await world.untilCallsHave(400, client.accessToken, TOOLS_HOST);

    expect(await client.callTool('whoami')).toBe('notes');
    expect(client.authorizations).toBe(1);
  });

  test('lists and ends the sessions of a user, from the pod of a proxy', async () => {
    const [block = ''] = await documentedBlocks(USERS_DOCUMENT, 'Where they run', 'sh');
    const [list = '', revoke] = block.trim().split('\n');
    const listed = await run(list);
    expect(listed).toMatch(/ browser +alice@example\.com +company /);
    expect(listed).toMatch(/ client +alice@example\.com +company +Test client /);
    await run(revoke);
    await world.untilCallsHave(401, client.accessToken, TOOLS_HOST);
    await client[Symbol.asyncDispose]();

    expect(await run(list)).not.toContain('alice@example.com');
    expect(await logOfProxies()).toMatch(/"sign-in-ended".*"operator-request"/);
  });

  test('ends a client, from the pod of a proxy', async () => {
    await using other = await signIn();
    const [command = ''] = await documentedBlocks(USERS_DOCUMENT, 'The audit log', 'sh');
    const listed = await run(command.replace(/clients revoke .*/, 'clients list'));
    const [, id = ''] = /^(\S+) +Test client +registered +\S+ +1 /m.exec(listed) ?? [];
    await run(command.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, id));
    await world.untilCallsHave(401, other.accessToken, TOOLS_HOST);

    expect(await logOfProxies()).toMatch(/"client-removed".*"olivia"/);
  });

  test('gets another sealing key at once, if somebody else may know it', async () => {
    await using earlier = await signIn();
    const before = await sealingKey();
    const section = 'A key that somebody else may know';
    const [replace = ''] = await documentedBlocks('docs/operations.md', section);
    await run(replace.replace('--reset-values', '--values values.yaml'));
    await world.untilCallsHave(401, earlier.accessToken, TOOLS_HOST);

    expect(await sealingKey()).not.toBe(before);
    await using later = await signIn();
    expect(later.authorizations).toBe(1);
  });

  async function commands(heading: string): Promise<readonly string[]> {
    return await documentedBlocks(DOCUMENT, heading);
  }

  /** Returns the client of a user who signed in, and called a tool. */
  async function signIn(): Promise<ClientWithUser> {
    const opening = world.openClient(TOOLS_HOST);
    expect(await opening.callTool('whoami')).toBe('notes');
    expect(opening.authorizations).toBe(1);
    return opening;
  }

  /** Returns the id of the key that seals. */
  async function sealingKey(): Promise<string | undefined> {
    return /"seals":"([^"]+)"/.exec(await logOfProxies())?.[1];
  }

  async function logOfProxies(): Promise<string> {
    const proxies = ['--selector', 'app.kubernetes.io/component=proxy', '--tail=-1'];
    return await kubectl('logs', '--namespace', PROXIES_NAMESPACE, ...proxies);
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
    const redis = { bundled: { persistence: { enabled: true } } };
    await directory.write('values.yaml', stringify({ ...values, redis }));
  }
});

/** The part of the documented values that the test adds to. */
interface InstallValues {
  readonly settings: {
    readonly spec: { readonly identityProviders: readonly [object] };
  };
}
