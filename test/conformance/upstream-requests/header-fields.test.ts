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
    verifies('assertion.header', 'gets no X-Gateway header of a client', async () => {
      const received = await receivedFrom(kind, world(), {
        ...{ 'x-gateway-user': 'forged', 'X-Gateway-Groups': 'forged', x_gateway_user: 'forged' },
        ...{ 'x-gateway': 'forged', 'x-gateway-mcp': 'forged', 'x-gatewayed': 'own' },
      });
      expect(JSON.stringify(received.headers)).not.toContain('forged');
      expect(valuesOf(received, 'x-gatewayed')).toEqual(['own']);
    });

    verifies(
      'route.forwarded-headers',
      'hears from the gateway alone where a request came from',
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

    verifies('route.gateway-cookies', 'gets every cookie but the gateway’s', async () => {
      const own = 'gatehouse-1=x; __Host-gatehouse=x; gatehouse-sign-in-1-abc=x';
      const received = await receivedFrom(kind, world(), {
        cookie: `first="a b"; ${own}; gatehouse=x; last=%20; gatehouses=1; empty=`,
      });
      expect(valuesOf(received, 'cookie')).toEqual(['first="a b"; last=%20; gatehouses=1; empty=']);
    });

    verifies(
      'route.gateway-cookies',
      'gets no cookie field when only the gateway’s are left',
      async () => {
        const received = await receivedFrom(kind, world(), { cookie: 'gatehouse-1=x' });
        expect(valuesOf(received, 'cookie')).toEqual([]);
      },
    );

    verifies('route.gateway-cookies', 'cannot set one of the gateway’s', async () => {
      const { headers } = await kind.request(world(), {});
      expect(headers['set-cookie']).toEqual(['own=1; Path=/']);
    });
  });
}

describe('Authorization', () => {
  verifies(
    'mcp.upstream-without-auth',
    'never reaches the upstream of an MCP route, under any name',
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
      `reaches the upstream of ${kind.name} as it is, uninterpreted`,
      async () => {
        for (const authorization of VALUES) {
          const received = await receivedFrom(kind, world(), { authorization });
          expect(valuesOf(received, 'authorization')).toEqual([authorization]);
        }
      },
    );

    verifies(
      'mcp.upstream-without-auth',
      `never reaches the upstream of ${kind.name} when it is a token of the gateway’s own`,
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

test('An upstream is asked with the method and the other headers of the client', async () => {
  const received = await receivedFrom(WEB, world(), {
    ...{ 'user-agent': 'test/1', 'accept-language': 'de', 'X-CaSe': 'kept' },
    ...{ 'sec-fetch-site': 'none', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
  });
  expect(received.message.method).toBe('GET');
  expect(received.headers).toContainEqual(['X-CaSe', 'kept']);
  expect(valuesOf(received, 'user-agent')).toEqual(['test/1']);
  expect(valuesOf(received, 'traceparent')).toHaveLength(1);
});
