import { describe, expect } from '@jest/globals';

import { membersOf, send } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { startRoutesWorld } from '../../support/routes-world.ts';
import { verifies } from '../../requirements/verifies.ts';

const JWKS = '/.gateway/jwks.json';
const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

const world = openForAll(startRoutesWorld);

describe('The reserved prefix', () => {
  const NOTHING = [
    ...['/.gateway', '/.gateway/anything', '/.gateway/mcp', '/.gateway/mcp/nothing'],
    ...[`${JWKS}/x`, '/.gateway/JWKS.json', '/.gateway//jwks.json', '/.gateway/%6awks.json'],
  ];

  for (const path of NOTHING) {
    verifies('endpoints.reserved-prefix', `${path} is not found on any host`, async () => {
      const arrivals = await world().arrivalsDuring(async () => {
        for (const origin of [world().single, world().several, world().mcp]) {
          const headers = { authorization: `Bearer ${world().token}` };
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
    'the gateway serves the account page on every host',
    async () => {
      const arrivals = await world().arrivalsDuring(async () => {
        for (const origin of [world().single, world().several, world().mcp]) {
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
    ...[
      '/;/.gateway/x',
      '/;a=b/.gateway/x',
      '/;a;b/;/.gateway',
      '/%3b/.gateway/x',
      '/%3Ba/.gateway',
    ],
    ...['/;%2f.gateway/x', '/;%2F;a%5C.gateway/x', '/%2f;%2f%2egateway;x/y', '//;//;/%2egateway/x'],
    ...['/;/%2E;a/.gateway/x', '/.;/.gateway/x', '/;/../.gateway/x', '/;a/%2e%2e%3b/.gateway/x'],
    ...[
      '/;%5c..%5c.gateway/x',
      '/%5c.gateway/x',
      '/;x/.GATEWAY;y/z',
      '/%252egateway/x',
      '/%253b/.gateway',
    ],
  ];

  for (const path of DISGUISED) {
    verifies(
      'endpoints.reserved-prefix',
      `a request to ${path} does not reach the upstream`,
      async () => {
        const arrivals = await world().arrivalsDuring(async () => {
          for (const origin of [world().single, world().several, world().mcp]) {
            const { status } = await send(origin + path, {
              headers: { authorization: `Bearer ${world().token}` },
            });
            expect([400, 404]).toContain(status);
          }
        });
        expect(arrivals).toBe(0);
      },
    );
  }

  verifies(
    'endpoints.reserved-prefix',
    'a WebSocket to the reserved prefix does not reach the upstream',
    async () => {
      const arrivals = await world().arrivalsDuring(async () => {
        for (const path of [JWKS, '/.gateway/x', '/.gateway', '/%2egateway/x', '//.gateway/x']) {
          const { status } = await send(world().single + path, { headers: HANDSHAKE });
          expect({ path, status }).toEqual({ path, status: 404 });
        }
      });
      expect(arrivals).toBe(0);
      expect((await send(`${world().single}/ws`, { headers: HANDSHAKE })).status).toBe(418);
    },
  );

  verifies(
    'endpoints.reserved-prefix',
    'a path that only resembles the prefix reaches the upstream',
    async () => {
      for (const path of [
        '/.gatewayx',
        '/.gateway-x/y',
        '/x/.gateway/y',
        '/gateway/x',
        '/.gatewa',
        '/;/.gatewayx',
        '/;.gateway/x',
        '/x;/.gateway/y',
      ]) {
        expect((await send(world().single + path)).status).toBe(200);
        expect(world().arrivedAt()).toBe(path);
      }
    },
  );

  verifies('endpoints.reserved-prefix', 'the gateway serves its keys on every host', async () => {
    for (const origin of [world().single, world().several, world().mcp]) {
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

  verifies(
    'route.from-to',
    'the upstream serves the documents on a host without an MCP route',
    async () => {
      for (const path of WELL_KNOWNS) {
        expect((await send(world().single + path)).status).toBe(200);
        expect(world().arrivedAt()).toBe(path);
      }
    },
  );

  verifies(
    'as.metadata',
    'the gateway serves the documents on a host with an MCP route',
    async () => {
      const arrivals = await world().arrivalsDuring(async () => {
        for (const path of WELL_KNOWNS) expect((await send(world().mcp + path)).status).toBe(200);
      });
      expect(arrivals).toBe(0);
    },
  );

  verifies(
    ['route.from-to', 'mcp.endpoint-only'],
    'every other well-known path is the upstream’s, if the MCP route of the host lists it',
    async () => {
      const headers = { authorization: `Bearer ${world().token}` };
      const listed = await send(`${world().mcp}/.well-known/security.txt`, { headers });
      expect(listed.status).toBe(200);
      expect(world().arrivedAt()).toBe('/.well-known/security.txt');
      const other = await send(`${world().mcp}/.well-known/change-password`, { headers });
      expect(other.status).toBe(404);
    },
  );
});
