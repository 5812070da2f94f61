import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import httpProxy from 'http-proxy';
import { decodeJwt } from 'jose';
import { WebSocket, WebSocketServer } from 'ws';

import { BrowserJar } from '../support/browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { send, type Answer } from '../support/http-client.ts';
import { RawClient } from '../support/raw-http.ts';
import { signInClient, type SignedInClient } from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

let world: GatewayWithUsers;
let upstream: Upstream;
let webSockets: WebSocketServer;
let chat: string;
let plain: string;
let mcp: string;
let client: SignedInClient;

beforeAll(async () => {
  upstream = await startUpstream((_message, response) => response.end('no WebSocket'));
  webSockets = new WebSocketServer({ server: upstream.server });
  webSockets.on('connection', (webSocket) => {
    webSocket.on('message', (data, isBinary) => webSocket.send(data, { binary: isBinary }));
  });
  world = await startGatewayWithUsers();
  [chat, plain, mcp] = [world.originOf('chat'), world.originOf('plain'), world.originOf('mcp')];
  const to = upstream.origin;
  const engineers = { allow: { and: [{ groups: { has: 'engineering' } }] } };
  await world.configure({
    chat: { from: chat, to, allowWebsockets: true, policy: engineers },
    plain: { from: plain, to, allowAnyAuthenticatedUser: true },
    mcp: { from: mcp, to, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
  });
  client = await signInClient(mcp);
  await client.browser.open(chat);
  await client.browser.open(plain);
});

afterAll(async () => {
  webSockets.close();
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

function cookiesAt(origin: string, browser = client.browser): string {
  const { hostname } = new URL(origin);
  const cookies = browser.cookies.filter(({ host }) => host === hostname);
  return ['other=1', ...cookies.map(({ name, value }) => `${name}=${value}`)].join('; ');
}

function connect(origin: string, path: string, headers: Record<string, string>): WebSocket {
  const { host, port } = new URL(origin);
  return new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { host, ...headers } });
}

/** Returns the response to a handshake that must not reach the upstream. */
async function refused(origin: string, headers: Record<string, string>): Promise<Answer> {
  const before = webSockets.clients.size + upstream.requests.length;
  const answer = await send(`${origin}/socket`, { headers: { ...HANDSHAKE, ...headers } });
  expect(webSockets.clients.size + upstream.requests.length).toBe(before);
  expect(answer.body).toContain(String(answer.headers['x-request-id']));
  return answer;
}

describe('A WebSocket', () => {
  verifies(
    ['web.websockets', 'assertion.header'],
    'a WebSocket of a permitted user carries messages both ways, with the assertion',
    async () => {
      const before = world.gateway.decisions().length;
      const arrival = once(webSockets, 'connection');
      const webSocket = connect(chat, '/room/7?x=%2F', {
        cookie: cookiesAt(chat),
        'x-gateway-assertion': 'forged',
        origin: chat,
      });
      await once(webSocket, 'open');
      for (const text of ['hello', 'ä'.repeat(70_000)]) {
        webSocket.send(text);
        const [data, isBinary] = (await once(webSocket, 'message')) as [Buffer, boolean];
        expect({ text: data.toString(), isBinary }).toEqual({ text, isBinary: false });
      }
      webSocket.send(Buffer.from([0, 255]));
      const [data, isBinary] = (await once(webSocket, 'message')) as [Buffer, boolean];
      expect({ bytes: [...data], isBinary }).toEqual({ bytes: [0, 255], isBinary: true });

      // `ws` emits the socket and the handshake.
      const [, { url, headers }] = (await arrival) as [WebSocket, Answer & { url: string }];
      expect(url).toBe('/room/7?x=%2F');
      expect(headers).toMatchObject({ cookie: 'other=1', origin: chat });
      expect(headers['x-forwarded-host']).toBe(new URL(chat).host);
      const { iss, sub, email } = decodeJwt(String(headers['x-gateway-assertion']));
      expect({ iss, sub, email }).toEqual({ iss: chat, sub: 'alice', email: 'alice@example.com' });
      expect(world.gateway.decisions()).toHaveLength(before + 1);

      webSocket.close(4001, 'bye');
      expect(await once(webSocket, 'close')).toEqual([4001, Buffer.from('bye')]);
    },
  );

  verifies(
    'web.websockets',
    'a WebSocket ends at the client when the upstream ends it',
    async () => {
      const arrival = once(webSockets, 'connection');
      const webSocket = connect(chat, '/', { cookie: cookiesAt(chat) });
      await once(webSocket, 'open');
      const [behind] = (await arrival) as [WebSocket];
      behind.terminate();
      const [code] = (await once(webSocket, 'close')) as [number];
      expect(code).toBe(1006);
    },
  );

  verifies(
    'web.websockets',
    'a WebSocket ends at the upstream when the client disconnects',
    async () => {
      const arrival = once(webSockets, 'connection');
      const webSocket = connect(chat, '/', { cookie: cookiesAt(chat) });
      await once(webSocket, 'open');
      const [behind] = (await arrival) as [WebSocket];
      webSocket.terminate();
      await once(behind, 'close');
      expect(behind.readyState).toBe(behind.CLOSED);
    },
  );

  const STRANGERS: readonly (readonly [string, () => Record<string, string>])[] = [
    ['with nothing', () => ({})],
    ['with a session of another host', () => ({ cookie: cookiesAt(plain) })],
    ['with an external token', () => ({ authorization: `Bearer ${client.accessToken}` })],
    ['with the headers of a page', () => ({ accept: 'text/html', origin: chat })],
    [
      'with the headers of a browser’s WebSocket',
      () => ({ 'sec-fetch-mode': 'websocket', origin: chat }),
    ],
  ];

  for (const [what, headers] of STRANGERS) {
    verifies('web.websockets', `a handshake ${what} instead of a session gets 401`, async () => {
      const { status, headers: fields } = await refused(chat, headers());
      expect({ status, location: fields.location }).toEqual({ status: 401, location: undefined });
    });
  }

  verifies('web.websockets', 'a handshake of a user whom the policy denies gets 403', async () => {
    const browser = new BrowserJar();
    await browser.submit(await browser.open(chat), { login: 'bob' });
    const before = world.gateway.decisions().length;
    expect((await refused(chat, { cookie: cookiesAt(chat, browser) })).status).toBe(403);
    expect(world.gateway.decisions().slice(before)).toEqual([
      expect.objectContaining({ email: 'bob@example.com', allow: false }),
    ]);
  });

  verifies(
    'web.websockets',
    'a handshake gets 403 on a route that does not allow WebSockets',
    async () => {
      expect((await refused(plain, { cookie: cookiesAt(plain) })).status).toBe(403);
    },
  );

  verifies(
    'web.websockets',
    'a handshake gets 403 on an MCP route, with or without a token',
    async () => {
      const authorization = `Bearer ${client.accessToken}`;
      for (const headers of [{}, { authorization }]) {
        const { status, body } = await refused(mcp, headers);
        expect(status).toBe(403);
        expect(JSON.parse(body)).toMatchObject({ jsonrpc: '2.0', error: { code: 40301 } });
      }
    },
  );

  verifies(
    ['web.websockets', 'route.unknown-host'],
    'a handshake gets 421 on an unknown host',
    async () => {
      expect((await refused(world.originOf('nobody'), {})).status).toBe(421);
    },
  );

  test('a handshake that fails before it is forwarded is answered, and its connection closed', async () => {
    jest.spyOn(httpProxy, 'createProxyServer').mockImplementationOnce(() => {
      throw new Error('a fault of our own');
    });
    await using raw = await RawClient.connect(world.gateway.port);
    const fields = { host: new URL(chat).host, ...HANDSHAKE, cookie: cookiesAt(chat) };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    raw.send(['GET / HTTP/1.1', ...lines, '', ''].join('\r\n'));
    await raw.closed;
    expect(world.gateway.logs().at(-1)).toMatchObject({
      message: 'request failed unexpectedly',
      error: 'Error: a fault of our own',
    });
  });

  verifies('web.websockets', 'a POST is not a handshake', async () => {
    const headers = { ...HANDSHAKE, cookie: cookiesAt(chat) };
    const answer = await send(`${chat}/socket`, { method: 'POST', headers, body: 'x' });
    expect(answer.body).toBe('no WebSocket');
    expect(upstream.requests.at(-1)?.message.headers).not.toHaveProperty('upgrade');
  });
});
