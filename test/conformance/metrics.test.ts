import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import { eventually } from '../support/eventually.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { open as openStream, send } from '../support/http-client.ts';
import { metricFaults } from '../support/metrics/metric-faults.ts';
import { promtoolFaults } from '../support/metrics/promtool.ts';
import { scrape, type Scrape } from '../support/metrics/scrape.ts';
import { callMcp, signInClient, type SignedInClient } from '../support/signed-in-client.ts';
import { RawClient } from '../support/raw-http.ts';
import { refresh, startSessionWorld } from '../support/session-world.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const NAME = 'mcp';
const ROUTE = { route: `default/${NAME}` };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' };

let world: GatewayWithUsers;
let upstream: Upstream;
let webSockets: WebSocketServer;
let mcp: string;
let publicSite: string;
let client: SignedInClient;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    if (message.url === '/events') response.writeHead(200, EVENT_STREAM).write('data: 1\n\n');
    else response.end('{}');
  });
  webSockets = new WebSocketServer({ server: upstream.server });
  world = await startGatewayWithUsers({ accessLog: true });
  mcp = world.originOf(NAME);
  publicSite = world.originOf('open');
  const to = upstream.origin;
  await world.configure({
    [NAME]: {
      ...{ from: mcp, to, mcp: { server: {} } },
      policy: {
        allow: { and: [{ domain: { is: 'example.com' } }] },
        deny: { and: [{ mcp_tool: { starts_with: 'delete_' } }] },
      },
    },
    open: { from: publicSite, to, allowPublicUnauthenticatedAccess: true, allowWebsockets: true },
  });
  client = await signInClient(mcp);
});

afterAll(async () => {
  webSockets.close();
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const EVENT_STREAM = { 'content-type': 'text/event-stream' };

async function read(): Promise<Scrape> {
  const all = await scrape(world.gateway.metrics);
  expect(metricFaults(all.metrics.values())).toEqual([]);
  return all;
}

/** Returns how much the value of a metric changed during some work. */
async function change(
  name: string,
  labels: Readonly<Record<string, string>>,
  work: () => Promise<unknown>,
): Promise<number> {
  const before = (await read()).value(name, labels);
  await work();
  return (await read()).value(name, labels) - before;
}

function callTool(name: string): Promise<unknown> {
  return callMcp(mcp, client.accessToken, { ...CALL, params: { name, arguments: {} } });
}

describe('The metrics of a gateway', () => {
  test.each([
    {
      name: 'gatehouse_requests_total',
      labels: { ...ROUTE, method: 'POST', status: '2xx', era: 'stateful' },
    },
    {
      name: 'gatehouse_mcp_messages_total',
      labels: { ...ROUTE, method: 'tools/call', tool: 'read', outcome: 'answered' },
    },
    {
      name: 'gatehouse_decisions_total',
      labels: { ...ROUTE, result: 'allow', reason: 'domain-ok' },
    },
    { name: 'gatehouse_upstream_duration_seconds', labels: ROUTE },
    { name: 'gatehouse_gateway_duration_seconds', labels: { kind: 'mcp' } },
  ])('count a call of a tool in $name', async ({ name, labels }) => {
    expect(await change(name, labels, () => callTool('read'))).toBe(1);
  });

  test.each([
    {
      name: 'gatehouse_mcp_messages_total',
      labels: { ...ROUTE, method: 'tools/call', tool: 'delete_all', outcome: 'denied' },
    },
    {
      name: 'gatehouse_decisions_total',
      labels: { ...ROUTE, result: 'deny', reason: 'mcp-tool-unauthorized' },
    },
    {
      name: 'gatehouse_request_errors_total',
      labels: { ...ROUTE, reason: 'mcp-tool-unauthorized' },
    },
  ])('count a denied call of a tool in $name', async ({ name, labels }) => {
    expect(await change(name, labels, () => callTool('delete_all'))).toBe(1);
  });

  test('count a token that is refused', async () => {
    const labels = { ...ROUTE, reason: 'malformed' };
    const work = (): Promise<unknown> => callMcp(mcp, 'gte_nonsense', CALL);
    expect(await change('gatehouse_request_errors_total', labels, work)).toBe(1);
  });

  test('count requests to endpoints by the path of the endpoint, without what follows it', async () => {
    const labels = { endpoint: '/.gateway/callback', status: '4xx' };
    const work = (): Promise<unknown> => send(`${mcp}/.gateway/callback/corp?code=secret`);
    expect(await change('gatehouse_endpoint_requests_total', labels, work)).toBe(1);
    const unknown = { endpoint: 'none', status: '4xx' };
    const other = (): Promise<unknown> => send(`${mcp}/.gateway/nothing`);
    expect(await change('gatehouse_endpoint_requests_total', unknown, other)).toBe(1);
  });

  test('count sign-ins, and tokens that were issued, refreshed and replayed', async () => {
    const another = await signInClient(mcp);
    const events = 'gatehouse_audit_events_total';
    expect(await change(events, { event: 'token-refreshed' }, () => refresh(another))).toBe(1);
    const { value } = await read();
    for (const event of ['sign-in-completed', 'token-issued', 'consent-given']) {
      expect([event, value(events, { event }) > 0]).toEqual([event, true]);
    }
  });

  test('count the calls to the identity provider by what they were for', async () => {
    const { value } = await read();
    const labels = { kind: 'provider', operation: 'token', outcome: '2xx' };
    expect(value('gatehouse_outbound_calls_total', labels)).toBeGreaterThan(0);
    const timed = { kind: 'provider', operation: 'token' };
    expect(value('gatehouse_outbound_call_duration_seconds', timed)).toBeGreaterThan(0);
  });

  test('count renewals of sessions', async () => {
    await using sessions = await startSessionWorld();
    const user = await signInClient(sessions.url);
    sessions.expireSessions();
    await refresh(user);
    const { value } = await scrape(sessions.gateway.metrics);
    expect(value('gatehouse_session_renewals_total', { outcome: 'renewed' })).toBe(1);
    expect(value('gatehouse_session_renewals_total')).toBe(1);
  });

  test('count what is no request', async () => {
    await using raw = await RawClient.connect(world.gateway.port);
    const garbage = async (): Promise<unknown> => {
      raw.send('nonsense\r\n\r\n');
      return raw.response();
    };
    const labels = { status: '400' };
    expect(await change('gatehouse_unreadable_requests_total', labels, garbage)).toBe(1);
  });

  test('show open streams and connections', async () => {
    const events = await openStream(`${publicSite}/events`);
    const { host, port } = new URL(publicSite);
    const webSocket = new WebSocket(`ws://127.0.0.1:${port}`, { headers: { host } });
    await once(webSocket, 'open');
    const { value } = await read();
    expect(value('gatehouse_streams', { kind: 'events' })).toBe(1);
    expect(value('gatehouse_streams', { kind: 'websocket' })).toBe(1);
    expect(value('gatehouse_connections')).toBeGreaterThanOrEqual(2);
    events.destroy();
    webSocket.close();
    await eventually('the streams are closed', async () => {
      return (await read()).value('gatehouse_streams') === 0;
    });
    const handshakes = { route: 'default/open', status: '1xx' };
    expect((await read()).value('gatehouse_requests_total', handshakes)).toBe(1);
  });

  test('show the snapshot that serves', async () => {
    const { samples, value } = await read();
    expect(samples('gatehouse_snapshot_info')).toMatchObject([
      { labels: { version: world.gateway.gateway.version() }, value: 1 },
    ]);
    expect(value('gatehouse_routes')).toBe(2);
    const age = Date.now() / 1_000 - value('gatehouse_snapshot_applied_timestamp_seconds');
    expect(age).toBeGreaterThanOrEqual(0);
  });

  test('have nothing that promtool objects to', async () => {
    await callTool('read');
    expect(promtoolFaults((await read()).text)).toBe('');
  });

  test('name no user, client, address or token', async () => {
    const { metrics } = await read();
    const values = [...metrics.values()]
      .flatMap(({ samples }) => samples.flatMap(({ labels }) => Object.values(labels)))
      .join(' ');
    for (const secret of ['alice', 'example.com', '127.0.0.1', 'gte_', client.clientId]) {
      expect(values).not.toContain(secret);
    }
  });
});
