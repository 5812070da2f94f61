import { describe, expect, test } from '@jest/globals';

import {
  MCP,
  PUBLIC,
  receivedFrom,
  startKindsOfRoute,
  valuesOf,
  WEB,
} from '../../support/kinds-of-route.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startKindsOfRoute);

for (const kind of [MCP, WEB, PUBLIC]) {
  const { name, origin } = kind;

  describe(`The upstream of ${name}`, () => {
    verifies(
      'assertion.header',
      'the upstream receives no X-Gateway header of the client',
      async () => {
        const received = await receivedFrom(kind, world(), {
          ...{ 'x-gateway-user': 'forged', 'X-Gateway-Groups': 'forged', x_gateway_user: 'forged' },
          ...{ 'x-gateway': 'forged', 'x-gateway-mcp': 'forged', 'x-gatewayed': 'own' },
        });
        expect(JSON.stringify(received.headers)).not.toContain('forged');
        expect(valuesOf(received, 'x-gatewayed')).toEqual(['own']);
      },
    );

    verifies(
      'route.forwarded-headers',
      'the upstream receives the origin of a request from the gateway alone',
      async () => {
        const received = await receivedFrom(kind, world(), {
          ...{ 'x-forwarded-for': '1.2.3.4', 'x-forwarded-host': 'evil.example' },
          ...{ 'x-forwarded-proto': 'gopher', 'x-forwarded-port': '1', 'x-forwarded-prefix': '/x' },
          ...{ forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4', x_forwarded_for: '1.2.3.4' },
          ...{ 'x-request-id': 'mine', 'x-original-url': '/x', 'x-rewrite-url': '/x' },
        });
        const { host } = new URL(origin(world()));
        expect(valuesOf(received, 'x-forwarded-for')).toEqual(['127.0.0.1']);
        expect(valuesOf(received, 'x-forwarded-host')).toEqual([host]);
        expect(valuesOf(received, 'x-forwarded-proto')).toEqual(['http']);
        expect(valuesOf(received, 'x-request-id')).toEqual([
          expect.stringMatching(/^[\da-f-]{36}$/),
        ]);
        expect(valuesOf(received, 'host')).toEqual([new URL(world().upstream.origin).host]);
        for (const absent of ['forwarded', 'x-real-ip', 'x-forwarded-port', 'x-original-url']) {
          expect(valuesOf(received, absent)).toEqual([]);
        }
        expect(JSON.stringify(received.headers)).not.toContain('1.2.3.4');
      },
    );

    verifies(
      'route.gateway-cookies',
      'the upstream receives all cookies but those of the gateway',
      async () => {
        const own = 'gatehouse-1=x; __Host-gatehouse=x; gatehouse-sign-in-1-abc=x';
        const received = await receivedFrom(kind, world(), {
          cookie: `first="a b"; ${own}; gatehouse=x; last=%20; gatehouses=1; empty=`,
        });
        expect(valuesOf(received, 'cookie')).toEqual([
          'first="a b"; last=%20; gatehouses=1; empty=',
        ]);
      },
    );

    verifies(
      'route.gateway-cookies',
      'the upstream receives no Cookie field if only cookies of the gateway were in it',
      async () => {
        const received = await receivedFrom(kind, world(), { cookie: 'gatehouse-1=x' });
        expect(valuesOf(received, 'cookie')).toEqual([]);
      },
    );

    verifies(
      'route.gateway-cookies',
      'the upstream cannot set a cookie of the gateway',
      async () => {
        const { headers } = await kind.request(world(), {});
        expect(headers['set-cookie']).toEqual(['own=1; Path=/']);
      },
    );
  });
}

describe('The Authorization header', () => {
  verifies(
    'mcp.upstream-without-auth',
    'the upstream of an MCP route never receives it, under any name',
    async () => {
      const { accessToken } = world().client;
      const bearer = `Bearer ${accessToken}`;
      const received = await receivedFrom(MCP, world(), {
        ...{ authorization: [bearer, 'Bearer another'], 'proxy-authorization': bearer },
        ...{ 'x-forwarded-authorization': bearer, Authorization_: bearer },
      });
      expect(valuesOf(received, 'authorization')).toEqual([]);
      expect(valuesOf(received, 'proxy-authorization')).toEqual([]);
      expect(valuesOf(received, 'x-forwarded-authorization')).toEqual([]);
    },
  );

  for (const kind of [WEB, PUBLIC]) {
    const VALUES = [
      ...['Bearer an.opaque_token~+/==', 'bearer  two-spaces', 'Basic YWxpY2U6c2VjcmV0'],
      ...['Bearer eyJhbGciOiJub25lIn0.e30.', 'Digest username="alice", realm="x"', 'Bearer agte_x'],
    ];

    verifies(
      'bearer.default-unchanged',
      `the upstream of ${kind.name} receives it unchanged`,
      async () => {
        for (const authorization of VALUES) {
          const received = await receivedFrom(kind, world(), { authorization });
          expect(valuesOf(received, 'authorization')).toEqual([authorization]);
        }
      },
    );

    verifies(
      'mcp.upstream-without-auth',
      `the upstream of ${kind.name} never receives a token of the gateway`,
      async () => {
        const { accessToken, refreshToken } = world().client;
        const schemes = ['Bearer ', 'bearer ', 'BEARER  ', 'DPoP ', ''];
        for (const scheme of schemes) {
          for (const token of [accessToken, refreshToken, 'gte_x', 'gtr_x']) {
            const received = await receivedFrom(kind, world(), { authorization: scheme + token });
            expect(valuesOf(received, 'authorization')).toEqual([]);
          }
        }
      },
    );
  }
});

test('the upstream receives the method and the other headers of the client', async () => {
  const received = await receivedFrom(WEB, world(), {
    ...{ 'user-agent': 'test/1', 'accept-language': 'de', 'X-CaSe': 'kept' },
    ...{ 'sec-fetch-site': 'none', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
  });
  expect(received.message.method).toBe('GET');
  expect(received.headers).toContainEqual(['X-CaSe', 'kept']);
  expect(valuesOf(received, 'user-agent')).toEqual(['test/1']);
  expect(valuesOf(received, 'traceparent')).toHaveLength(1);
});
