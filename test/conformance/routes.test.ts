import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, send, type RequestOptions } from '../support/http-client.ts';
import { signInClient } from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

const JWKS = '/.gateway/jwks.json';
const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

let world: GatewayWithUsers;
let upstream: Upstream;
/** Handshakes that reached the upstream. */
let upgrades = 0;
/** A host with one route, where the path decides nothing. */
let single: string;
/** A host with several routes, where the path decides which. */
let several: string;
/** A host with an MCP route. */
let mcp: string;
let token: string;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  upstream.server.on('upgrade', (_message, socket) => {
    upgrades += 1;
    socket.end('HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n');
  });
  world = await startGatewayWithUsers();
  [single, several] = [world.originOf('single'), world.originOf('several')];
  mcp = world.originOf('mcp');
  const route = { to: upstream.origin, allowPublicUnauthenticatedAccess: true };
  await world.configure({
    single: { ...route, from: single, allowWebsockets: true },
    a: { ...route, from: several, prefix: '/a' },
    b: { ...route, from: several, prefix: '/b', to: `${upstream.origin}/other` },
    rest: { ...route, from: several },
    mcp: { from: mcp, to: upstream.origin, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
  });
  token = (await signInClient(mcp)).accessToken;
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** What reaches the upstream, requests and handshakes, while something runs. */
async function arrivalsDuring(run: () => Promise<unknown>): Promise<number> {
  const before = upstream.requests.length + upgrades;
  await run();
  return upstream.requests.length + upgrades - before;
}

/** The request target the upstream got last. */
function arrivedAt(): string | undefined {
  return upstream.requests.at(-1)?.message.url;
}

describe('A host', () => {
  verifies('route.from-to', 'is known in any case', async () => {
    const host = new URL(single).host.toUpperCase();
    expect((await send(`${single}/x?y`, { headers: { host } })).status).toBe(200);
    expect(arrivedAt()).toBe('/x?y');
  });

  const UNKNOWN: readonly (readonly [string, (port: string) => string])[] = [
    ['of another name', (port) => `elsewhere.localhost:${port}`],
    ['under one that is', (port) => `x.single.localhost:${port}`],
    ['above one that is', (port) => `localhost:${port}`],
    ['on another port', () => 'single.localhost:1'],
    ['without the port', () => 'single.localhost'],
    ['that is an address', (port) => `127.0.0.1:${port}`],
    ['with a dot at its end', (port) => `single.localhost.:${port}`],
  ];

  for (const [what, host] of UNKNOWN) {
    verifies('route.unknown-host', `${what} is not served`, async () => {
      const headers = { host: host(new URL(single).port) };
      const arrivals = await arrivalsDuring(async () => {
        for (const path of ['/', JWKS, '/.well-known/oauth-protected-resource']) {
          const { status } = await send(single + path, { headers });
          expect({ path, status }).toEqual({ path, status: 421 });
        }
      });
      expect(arrivals).toBe(0);
    });
  }

  verifies('route.unknown-host', 'that is malformed is refused', async () => {
    const arrivals = await arrivalsDuring(async () => {
      for (const host of ['a b', 'single.localhost/x', 'alice@single.localhost', '[::1']) {
        const { status } = await send(single, { headers: { host } });
        expect({ host, status }).toEqual({ host, status: 400 });
      }
    });
    expect(arrivals).toBe(0);
  });
});

describe('Under the reserved prefix', () => {
  const NOTHING = [
    ...['/.gateway', '/.gateway/anything', '/.gateway/mcp', '/.gateway/mcp/nothing'],
    ...[`${JWKS}/x`, '/.gateway/JWKS.json', '/.gateway//jwks.json', '/.gateway/%6awks.json'],
  ];

  for (const path of NOTHING) {
    verifies('endpoints.reserved-prefix', `${path} is nothing, on every host`, async () => {
      const arrivals = await arrivalsDuring(async () => {
        for (const origin of [single, several, mcp]) {
          const headers = { authorization: `Bearer ${token}` };
          for (const method of ['GET', 'POST']) {
            const { status } = await send(origin + path, { method, headers });
            expect(status).toBe(404);
          }
          for (const method of ['PUT', 'DELETE', 'OPTIONS']) {
            const { status } = await send(origin + path, { method, headers });
            expect([404, 405]).toContain(status);
          }
        }
      });
      expect(arrivals).toBe(0);
    });
  }

  verifies(
    'endpoints.reserved-prefix',
    'the account page is the gateway’s on every host',
    async () => {
      const arrivals = await arrivalsDuring(async () => {
        for (const origin of [single, several, mcp]) {
          const { status, body } = await send(`${origin}/.gateway/`);
          expect(status).toBe(200);
          expect(body).toContain('You are not signed in');
        }
      });
      expect(arrivals).toBe(0);
    },
  );

  const DISGUISED = [
    ...['/%2egateway/x', '/%2Egateway/x', '/%2egateway', '/.%67ateway/x', '/.gatewa%79/x'],
    ...['/%2e%67%61%74%65%77%61%79/x', '/.gateway%2fx', '/.gateway%2Fjwks.json', '/%2f.gateway/x'],
    ...[
      '/.gateway%5cx',
      '/.gateway\\x',
      '/.GATEWAY/x',
      '/.%47ateway/x',
      '//.gateway/x',
      '/.gateway;a=b/x',
      '/.gateway%3ba/x',
    ],
    ...['/.gateway/../x', '/.gateway/%2e%2e/x', '/.gateway/..%2fx', '/x/../.gateway/y'],
    ...['/./.gateway/x', '/%2e/.gateway/x', '/x/%2E%2E/.gateway/y', '/x/..;/.gateway/y'],
  ];

  for (const path of DISGUISED) {
    verifies('endpoints.reserved-prefix', `${path} is not the upstream’s either`, async () => {
      const arrivals = await arrivalsDuring(async () => {
        for (const origin of [single, several, mcp]) {
          const { status } = await send(origin + path, {
            headers: { authorization: `Bearer ${token}` },
          });
          expect([400, 404]).toContain(status);
        }
      });
      expect(arrivals).toBe(0);
    });
  }

  verifies('endpoints.reserved-prefix', 'a WebSocket is not the upstream’s either', async () => {
    const arrivals = await arrivalsDuring(async () => {
      for (const path of [JWKS, '/.gateway/x', '/.gateway', '/%2egateway/x', '//.gateway/x']) {
        const { status } = await send(single + path, { headers: HANDSHAKE });
        expect({ path, status }).toEqual({ path, status: 404 });
      }
    });
    expect(arrivals).toBe(0);
    expect((await send(`${single}/ws`, { headers: HANDSHAKE })).status).toBe(418);
  });

  verifies('endpoints.reserved-prefix', 'is nothing that only looks like it', async () => {
    for (const path of ['/.gatewayx', '/.gateway-x/y', '/x/.gateway/y', '/gateway/x', '/.gatewa']) {
      expect((await send(single + path)).status).toBe(200);
      expect(arrivedAt()).toBe(path);
    }
  });

  verifies('endpoints.reserved-prefix', 'the keys are the gateway’s, on every host', async () => {
    for (const origin of [single, several, mcp]) {
      const answer = await send(origin + JWKS);
      expect(answer.status).toBe(200);
      expect(membersOf(answer)).toHaveProperty('keys');
    }
  });
});

describe('The well-known documents of OAuth', () => {
  const WELL_KNOWNS = [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/x',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
  ];

  verifies('route.from-to', 'are the upstream’s on hosts without an MCP route', async () => {
    for (const path of WELL_KNOWNS) {
      expect((await send(single + path)).status).toBe(200);
      expect(arrivedAt()).toBe(path);
    }
  });

  verifies('as.metadata', 'are the gateway’s on hosts with one', async () => {
    const arrivals = await arrivalsDuring(async () => {
      for (const path of WELL_KNOWNS) expect((await send(mcp + path)).status).toBe(200);
    });
    expect(arrivals).toBe(0);
  });

  verifies('route.from-to', 'are the only ones that are', async () => {
    const headers = { authorization: `Bearer ${token}` };
    expect((await send(`${mcp}/.well-known/security.txt`, { headers })).status).toBe(200);
    expect(arrivedAt()).toBe('/.well-known/security.txt');
  });
});

describe('A path', () => {
  const AMBIGUOUS = ['//a', '/a//b', '/%61', '/a/%7Eb', '/b/%2da'];

  for (const path of AMBIGUOUS) {
    verifies('route.ambiguous-path', `${path} is refused where the path decides`, async () => {
      const arrivals = await arrivalsDuring(async () => {
        const answer = await send(several + path);
        expect(answer.status).toBe(400);
        expect(membersOf(answer)).toMatchObject({ error: 'ambiguous-path' });
      });
      expect(arrivals).toBe(0);
    });

    verifies('route.ambiguous-path', `${path} passes byte for byte where it does not`, async () => {
      expect((await send(`${single}${path}?a=%2e//b`)).status).toBe(200);
      expect(arrivedAt()).toBe(`${path}?a=%2e//b`);
    });
  }

  const MALFORMED = ['/a/../b', '/a/.', '/%2e%2e/b', '/a%00', '/a%2', '/a%zz', '/a\\b', '/a/..;/b'];

  for (const path of MALFORMED) {
    verifies('route.ambiguous-path', `${path} is refused everywhere`, async () => {
      const arrivals = await arrivalsDuring(async () => {
        for (const origin of [single, several]) {
          expect((await send(origin + path)).status).toBe(400);
        }
      });
      expect(arrivals).toBe(0);
    });
  }

  const MAPPINGS: readonly (readonly [string, string])[] = [
    ['/a', '/'],
    ['/a/', '/'],
    ['/a/b?c=d', '/b?c=d'],
    ['/ab', '/ab'],
    ['/b', '/other'],
    ['/b/x/', '/other/x/'],
    ['/', '/'],
    ['/c?', '/c?'],
  ];

  for (const [path, mapped] of MAPPINGS) {
    verifies('route.from-to', `${path} is ${mapped} at the upstream`, async () => {
      expect((await send(several + path)).status).toBe(200);
      expect(arrivedAt()).toBe(mapped);
    });
  }
});

const BODIES: readonly (readonly [string, RequestOptions])[] = [
  ['with a length', {}],
  ['in chunks', { headers: { 'transfer-encoding': 'chunked' } }],
];

for (const [how, options] of BODIES) {
  verifies('route.from-to', `A body of a web route ${how} passes whatever its size`, async () => {
    const body = 'x'.repeat(300_000);
    expect((await send(single, { method: 'PUT', ...options, body })).status).toBe(200);
    const { message } = upstream.requests.at(-1) ?? {};
    expect(message?.method).toBe('PUT');
  });
}
