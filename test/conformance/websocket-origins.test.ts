import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { WebSocketServer } from 'ws';

import { verifies } from '../requirements/verifies.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { RawClient } from '../support/raw-http.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { sessionCookieAt } from '../support/web-routes-world.ts';

const PARTNER = 'https://partner.example.com';

let world: GatewayWithUsers;
let upstream: Upstream;
let webSockets: WebSocketServer;
let opened = 0;
const browser = new BrowserJar();

beforeAll(async () => {
  upstream = await startUpstream((_message, response) => response.end('signed in'));
  webSockets = new WebSocketServer({ server: upstream.server });
  webSockets.on('connection', (webSocket) => {
    opened += 1;
    webSocket.close();
  });
  world = await startGatewayWithUsers();
  const to = upstream.origin;
  const user = { to, allowAnyAuthenticatedUser: true, allowWebsockets: true };
  const anyone = { to, allowPublicUnauthenticatedAccess: true, allowWebsockets: true };
  const listed = { websocketAllowedOrigins: [PARTNER, 'http://other.example.com:8000'] };
  await world.configure({
    chat: { ...user, from: world.originOf('chat') },
    open: { ...user, ...listed, from: world.originOf('listed') },
    public: { ...anyone, from: world.originOf('public') },
    wildcard: { ...anyone, from: world.originOf('*.apps') },
    standard: { ...anyone, from: 'http://standard.localhost' },
    secure: { ...anyone, from: 'https://secure.example.com' },
  });
  await browser.submit(await browser.open(world.originOf('chat')), { login: 'alice' });
  await browser.open(world.originOf('listed'));
});

afterAll(async () => {
  webSockets.close();
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Returns the status of a handshake at a host, with these lines of `Origin` and others. */
async function handshake(host: string, lines: readonly string[]): Promise<number> {
  await using client = await RawClient.connect(world.gateway.port);
  const fields = [
    ...[`Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
  ];
  client.send(['GET /socket HTTP/1.1', ...fields, ...lines, '', ''].join('\r\n'));
  return (await client.response()).status;
}

/** Returns the status of a handshake with the user's cookie, and whether it reached the upstream. */
async function signedIn(name: string, ...lines: string[]): Promise<[number, boolean]> {
  const before = opened;
  const origin = world.originOf(name);
  const cookie = `Cookie: ${sessionCookieAt(browser, origin)}`;
  const status = await handshake(new URL(origin).host, [cookie, ...lines]);
  return [status, opened > before];
}

describe('A WebSocket handshake with the cookie of a user', () => {
  verifies('web.websocket-origin', 'passes from a page of its own origin', async () => {
    const own = world.originOf('chat');
    expect(await signedIn('chat', `Origin: ${own}`)).toEqual([101, true]);
    expect(await signedIn('chat', `ORIGIN: ${own.toUpperCase()}`)).toEqual([101, true]);
  });

  verifies('web.websocket-origin', 'passes without an Origin, as from programs', async () => {
    expect(await signedIn('chat')).toEqual([101, true]);
  });

  const FOREIGN: readonly (readonly [string, () => string])[] = [
    ['of another site', () => 'https://evil.example.com'],
    ['without an origin', () => 'null'],
    ['of another port of its host', () => 'http://chat.localhost:1'],
    ['of the default port of its host', () => 'http://chat.localhost'],
    ['of the other scheme', () => world.originOf('chat').replace('http:', 'https:')],
    ['of a sibling host', () => world.originOf('wiki')],
    ['of a subdomain', () => world.originOf('a.chat')],
    ['of a parent domain', () => world.originOf('chat').replace('chat.', '')],
    ['with the host as a prefix', () => `${world.originOf('chat')}.evil.example.com`],
    ['with the host as a user', () => `${world.originOf('chat')}@evil.example.com`],
    ['with a path', () => `${world.originOf('chat')}/`],
    ['with a list of origins', () => `${world.originOf('chat')}, https://evil.example.com`],
    ['with an empty Origin', () => ''],
    ['with any origin', () => '*'],
    ['with the scheme of WebSockets', () => world.originOf('chat').replace('http:', 'ws:')],
    ['of an extension', () => 'chrome-extension://abcdefghijklmnop'],
    ['of a file', () => 'file://'],
    ['with a port that does not exist', () => 'http://chat.localhost:99999'],
  ];

  for (const [what, origin] of FOREIGN) {
    verifies(
      'web.websocket-origin',
      `gets 403 from a page ${what}, before the upstream`,
      async () => {
        expect(await signedIn('chat', `Origin: ${origin()}`)).toEqual([403, false]);
      },
    );
  }

  verifies('web.websocket-origin', 'gets 403 if only one of two Origins is its own', async () => {
    const [own, foreign] = [world.originOf('chat'), 'https://evil.example.com'];
    for (const [first, second] of [
      [own, foreign],
      [foreign, own],
    ] as const) {
      const lines = [`Origin: ${first}`, `Origin: ${second}`];
      expect(await signedIn('chat', ...lines)).toEqual([403, false]);
    }
  });

  verifies(
    'web.websocket-origin',
    'passes from an origin that the route lists, and from its own',
    async () => {
      const own = world.originOf('listed');
      for (const origin of [PARTNER, `${PARTNER}:443`, 'http://other.example.com:8000', own]) {
        expect(await signedIn('listed', `Origin: ${origin}`)).toEqual([101, true]);
      }
      for (const origin of [`${PARTNER}:8443`, 'http://partner.example.com', 'null']) {
        expect(await signedIn('listed', `Origin: ${origin}`)).toEqual([403, false]);
      }
    },
  );
});

describe('A WebSocket handshake without a session', () => {
  verifies(
    'web.websocket-origin',
    'from a foreign origin gets 403 on a public route, since its messages can be read there',
    async () => {
      const { host } = new URL(world.originOf('public'));
      expect(await handshake(host, ['Origin: https://evil.example.com'])).toBe(403);
      expect(await handshake(host, [`Origin: ${world.originOf('public')}`])).toBe(101);
      expect(await handshake(host, [])).toBe(101);
    },
  );

  verifies(
    'web.websocket-origin',
    'from a foreign origin gets 403 with a bearer token too, without a look at the token',
    async () => {
      const { host } = new URL(world.originOf('chat'));
      const lines = ['Authorization: Bearer gte_x', 'Origin: https://evil.example.com'];
      expect(await handshake(host, lines)).toBe(403);
    },
  );

  verifies(
    'web.websocket-origin',
    'at a wildcard host is compared with the origin of the name that it asks for',
    async () => {
      const { host } = new URL(world.originOf('one.apps'));
      expect(await handshake(host, [`Origin: ${world.originOf('one.apps')}`])).toBe(101);
      for (const other of ['two.apps', '*.apps', 'apps', 'x.one.apps']) {
        expect(await handshake(host, [`Origin: ${world.originOf(other)}`])).toBe(403);
      }
    },
  );

  verifies(
    'web.websocket-origin',
    'may leave out the default port of the scheme, in Host and in Origin',
    async () => {
      for (const host of ['standard.localhost', 'standard.localhost:80']) {
        for (const origin of ['http://standard.localhost', 'http://standard.localhost:80']) {
          expect(await handshake(host, [`Origin: ${origin}`])).toBe(101);
        }
        expect(await handshake(host, ['Origin: https://standard.localhost'])).toBe(403);
      }
      expect(await handshake('secure.example.com', ['Origin: https://secure.example.com'])).toBe(
        101,
      );
      expect(await handshake('secure.example.com', ['Origin: http://secure.example.com'])).toBe(
        403,
      );
    },
  );
});
