import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Route } from '../../crds/types.ts';
import { eventually } from '../support/eventually.ts';
import { membersOf } from '../support/http-client.ts';
import { startConnectCluster, type ConnectCluster } from '../support/kubernetes/connect-cluster.ts';
import {
  AUTHORIZATION_SERVER_HOST,
  MCP_SERVER_HOST,
} from '../support/kubernetes/connect-servers.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { hostOf } from '../support/kubernetes/gateway-manifests.ts';
import type { ProxyMember } from '../support/kubernetes/proxy-member.ts';

const CONNECTED = `https://${hostOf('app')}/connected`;
const FAILED = `${CONNECTED}?connect_error=configuration_error`;
const WRONG_SECRET = 'secret-of-another-client';

describeEndToEnd('fake', ['rbac', 'tokens'], 'connections in a cluster', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let cluster: ConnectCluster;
  let first: ProxyMember;
  let second: ProxyMember;
  /** The token of alice that the application got from the first proxy. */
  let token: string;

  beforeAll(async () => {
    cluster = opened.use(await startConnectCluster(openCluster));
    [first, second] = cluster.proxies;
    await cluster.applyServer('tickets', {});
    await cluster.applyServer('notes', {});
    await cluster.applyServerWithSecret('files', WRONG_SECRET);
    token = await cluster.externalToken();
  });
  afterAll(() => opened.disposeAsync());

  test('an application serves only if the settings list its namespace', async () => {
    const { gateway } = cluster;
    await cluster.applyApplication('foreign', 'others');

    await gateway.untilCondition('app', 'Accepted', 'True/Accepted');
    await eventually('the other one is refused', async () => {
      const { status } = await gateway.route('foreign', 'others');
      const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
      return accepted?.status === 'False' && accepted.reason === 'NotAllowedByGateway';
    });
    expect(await gateway.statuses('foreign')).toEqual([421, 421]);
  });

  test('a user connects at one proxy, and the application calls tools at the other', async () => {
    const { gateway, servers } = cluster;
    await gateway.untilCondition('tickets', 'UpstreamAuthReady', 'Unknown/NotTried');
    expect((await cluster.whoami(second, 'tickets', token)).status).toBe(401);

    expect(await cluster.connect('tickets')).toBe(CONNECTED);

    const answers = [
      await cluster.whoami(second, 'tickets', token),
      await cluster.whoami(first, 'tickets', token),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of answers) expect(body).toContain('up-alice');
    expect(servers.mcpServer.authorizations().join()).not.toContain(token);
  });

  test('both proxies list the connection to the application', async () => {
    for (const proxy of [first, second]) {
      expect(await connectedServers(proxy)).toContain('tickets');
    }
  });

  test('a changed client Secret is used by every proxy from then on', async () => {
    const { servers } = cluster;
    expect(await cluster.connect('files')).toBe(FAILED);

    await cluster.changeSecret('files', servers.authorizationServer.givenClient.secret);

    await cluster.useProxy(second);
    expect(await cluster.connect('files')).toBe(CONNECTED);
    await cluster.useProxy(first);
    expect((await cluster.whoami(first, 'files', token)).body).toContain('up-alice');
  });

  test('nobody new connects once the settings do not list the authorization server', async () => {
    await cluster.allowDomains(MCP_SERVER_HOST);

    expect(await cluster.connect('notes')).toBe(FAILED);

    expect((await cluster.whoami(second, 'tickets', token)).status).toBe(200);
  });

  test('the status of the Routes says what became of that', async () => {
    const { gateway } = cluster;

    await gateway.untilCondition('tickets', 'UpstreamAuthReady', 'True/Ready');
    await gateway.untilCondition('notes', 'UpstreamAuthReady', 'False/DomainNotAllowed');

    expect(await authReady('notes')).toMatchObject({
      message: expect.stringContaining(AUTHORIZATION_SERVER_HOST) as unknown,
    });
  });

  test('nothing of that is forgotten by a controller that starts again, nor with the proxy that found it out', async () => {
    const { gateway } = cluster;
    const [controller] = gateway.controllers;
    const before = [await authReady('tickets'), await authReady('notes')];
    const seen = new Set<string>();
    await Promise.all([controller?.terminate(), first.terminate()]);
    controller?.start();
    first.start();
    await gateway.applyRoute('later');

    await eventually('the new leader writes status', async () => {
      seen.add(JSON.stringify([await authReady('tickets'), await authReady('notes')]));
      return (await gateway.condition('later', 'Programmed')) === 'True/Programmed';
    });

    expect([...seen]).toEqual([JSON.stringify(before)]);
    await gateway.untilServed('later');
    await cluster.useProxy(first);
  });

  test('a user who disconnects at one proxy is disconnected at the other', async () => {
    const { authorizationServer } = cluster.servers;
    // The token remains good, so that only the proxies can end its use.
    authorizationServer.replace('revocation', (_message, response) => {
      response.writeHead(503).end();
    });
    const statusAtFirst = async (): Promise<number> =>
      (await cluster.whoami(first, 'tickets', token)).status;
    expect(await statusAtFirst()).toBe(200);

    const answer = await second.ask(hostOf('app'), '/.gateway/mcp/disconnect', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ routes: [`https://${hostOf('tickets')}`] }),
    });

    expect(answer.status).toBe(200);
    await eventually('the first proxy has no token', async () => (await statusAtFirst()) === 401);
    for (const proxy of [first, second]) {
      expect(await connectedServers(proxy)).not.toContain('tickets');
    }
  });

  test('no token and no secret is in a log, a status or a snapshot that is shown', async () => {
    const { gateway, servers } = cluster;
    const { mcpServer, authorizationServer } = servers;
    const members = [...gateway.controllers, ...gateway.proxies];
    const seen = JSON.stringify([
      members.map(({ log, stderr }) => [log, stderr]),
      await Promise.all(gateway.proxies.map((proxy) => proxy.admin('/debug/snapshot'))),
      await gateway.admin.request('GET', '/apis/gatehouse.dev/v1alpha1/routes'),
      await gateway.admin.request('GET', '/api/v1/events'),
    ]);
    const internal = mcpServer.authorizations().map((value = '') => value.replace('Bearer ', ''));
    const secrets = [token, WRONG_SECRET, authorizationServer.givenClient.secret, ...internal];
    for (const secret of secrets.filter((text) => text !== '')) expect(seen).not.toContain(secret);
  });

  async function connectedServers(proxy: ProxyMember): Promise<readonly unknown[]> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await proxy.ask(hostOf('app'), '/.gateway/mcp/routes', { headers });
    // The list of the specification.
    const servers = membersOf(answer)['servers'] as Readonly<Record<string, unknown>>[];
    return servers.filter(({ connected }) => connected).map(({ name }) => name);
  }

  async function authReady(name: string): Promise<object | undefined> {
    const { status }: Route = await cluster.gateway.route(name);
    return status?.conditions?.find(({ type }) => type === 'UpstreamAuthReady');
  }
});
