import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-client.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import type { Cluster } from '../support/kubernetes/cluster.ts';
import { describeEndToEnd } from '../support/kubernetes/describe-with-clusters.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';
import { hostOf } from '../support/kubernetes/gateway-manifests.ts';
import { startStatefulMcpServer } from '../support/stateful-mcp-server.ts';
import type { ProxyMember } from '../support/kubernetes/proxy-member.ts';
import { createMovedClock, type MovedClock } from '../support/redis/moved-clock.ts';

const AUDIENCE = 'https://gateway.example.test';
/** Of the API servers of the tests, and of most others. */
const ISSUER = 'https://kubernetes.default.svc';
const LONGER_THAN_ANY_TOKEN_SECONDS = 2 * 3_600;
const AGENT = { namespace: 'agents', pod: 'agent-1', audience: AUDIENCE };
/** The policy of a route for one ServiceAccount. */
const FOR_REPORTER = {
  allow: {
    and: [
      { 'claim/iss': ISSUER },
      { 'claim/kubernetes.io/namespace': 'agents' },
      { 'claim/kubernetes.io/serviceaccount/name': 'reporter' },
    ],
  },
};
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

describeEndToEnd('real', ['rbac', 'tokens'], 'workloads of the cluster', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let cluster: Cluster;
  let gateway: ClusterGateway;
  let clock: MovedClock;

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-clock-'));
    opened.defer(() => rm(directory, { recursive: true }));
    clock = createMovedClock(directory);
    ({ cluster, gateway } = opened.use(
      await startClusterWorld(openCluster, {
        ...{ controllers: 1, proxies: 1, proxyVariables: () => clock.environment },
        controllerFlags: ['--deletion-delay', '0s'],
      }),
    ));
    await useCluster([AUDIENCE]);
    await gateway.untilSettingsCondition('ResolvedRefs', 'True/ResolvedRefs');
    await serve('mcp');
  });
  afterAll(() => opened.disposeAsync());

  async function serve(name: string, to = gateway.upstream.origin): Promise<void> {
    await gateway.applyRoute(name, {
      ...{ from: `https://${hostOf(name)}`, to, mcp: { server: {} } },
      ...{ bearerTokenFormat: 'jwt', policy: FOR_REPORTER },
    });
    await gateway.untilCondition(name, 'Programmed', 'True/Programmed');
  }

  async function useCluster(audiences: [string, ...string[]]): Promise<void> {
    await gateway.changeSettings({
      identityProviders: [{ name: 'cluster', issuerUrl: 'kubernetes:///', audiences }],
    });
  }

  async function call(token: string): Promise<Answer> {
    return proxyOf(gateway).ask(hostOf('mcp'), '/', {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(CALL),
    });
  }

  async function tokenOf(serviceAccount: string, change: object = {}): Promise<string> {
    return cluster.proxyToken({ ...AGENT, serviceAccount, pod: `${serviceAccount}-1`, ...change });
  }

  async function expectRefusal(token: string): Promise<void> {
    const { status, headers } = await call(token);

    expect(status).toBe(401);
    expect(headers['www-authenticate']).toContain('error="invalid_token"');
    expect(headers['www-authenticate']).toContain(`resource_metadata="https://${hostOf('mcp')}/`);
  }

  test('call an MCP server as their ServiceAccount, with no secret', async () => {
    const { length: before } = gateway.upstream.requests;

    expect((await call(await tokenOf('reporter'))).status).toBe(200);
    const { message } = await gateway.upstream.request(before);
    expect(message.headers.authorization).toBeUndefined();
    const assertion = String(message.headers['x-gateway-assertion']);
    const [, payload = ''] = assertion.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      sub: expect.stringContaining('system:serviceaccount:agents:reporter') as unknown,
    });
  });

  test('call tools with an MCP client', async () => {
    await using server = await startStatefulMcpServer('tools');
    await serve('tools', server.origin);
    const client = new Client({ name: 'workload', version: '1.0.0' });
    const url = new URL(`https://${hostOf('tools')}`);
    const authorization = `Bearer ${await tokenOf('reporter')}`;
    await client.connect(
      new StreamableHTTPClientTransport(url, {
        requestInit: { headers: { authorization } },
        fetch: (_url, init) => fetchFrom(proxyOf(gateway), hostOf('tools'), init),
      }),
    );
    const { content } = await client.callTool({ name: 'whoami' });
    await client.close();

    expect(content).toEqual([{ type: 'text', text: 'tools' }]);
  });

  test('are denied what the policy does not allow their ServiceAccount', async () => {
    expect((await call(await tokenOf('other'))).status).toBe(403);
  });

  test('are refused with a token for another audience', async () => {
    await expectRefusal(await tokenOf('reporter', { audience: 'https://other.example.test' }));
  });

  test('are refused if they are of another cluster with the same issuer', async () => {
    await using other = await startFakeCluster();

    await expectRefusal(await other.proxyToken({ ...AGENT, serviceAccount: 'reporter' }));
  });

  test('are refused once their token has expired, although it was accepted before', async () => {
    const token = await tokenOf('reporter');
    expect((await call(token)).status).toBe(200);
    clock.advance(LONGER_THAN_ANY_TOKEN_SECONDS);

    await expectRefusal(token);
    clock.advance(-LONGER_THAN_ANY_TOKEN_SECONDS);
  });

  describe('while an audience is that of the API server', () => {
    test('are refused, and the settings say why', async () => {
      const token = await tokenOf('reporter');
      expect((await call(token)).status).toBe(200);
      await useCluster([AUDIENCE, ISSUER]);
      await gateway.untilSettingsCondition('ResolvedRefs', 'False/ClusterIssuerNotUsable');
      expect(await gateway.settingsCondition('Accepted')).toBe('True/Accepted');

      await eventually('the token is refused', async () => (await call(token)).status === 401);
      await useCluster([AUDIENCE]);
      await eventually('the token is accepted', async () => (await call(token)).status === 200);
    });
  });
});

function proxyOf({ proxies: [proxy] }: ClusterGateway): ProxyMember {
  if (proxy === undefined) throw new Error('there is no proxy');
  return proxy;
}

/** `fetch` of the one URL of a host, at a proxy. Streams of the server are declined. */
async function fetchFrom(
  proxy: ProxyMember,
  host: string,
  { method = 'GET', headers, body }: RequestInit = {},
): Promise<Response> {
  if (method === 'GET') return new Response(null, { status: 405 });
  const sent = Object.fromEntries(new Headers(headers));
  const content = typeof body === 'string' ? { body } : {};
  const answer = await proxy.ask(host, '/', { method, headers: sent, ...content });
  const received = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) received.set(name, String(value));
  return new Response(answer.body, { status: answer.status, headers: received });
}
