import { describe, expect } from '@jest/globals';

import { membersOf, send, type RequestOptions } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { startRoutesWorld } from '../../support/routes-world.ts';
import { verifies } from '../../requirements/verifies.ts';

const JWKS = '/.gateway/jwks.json';

const world = openForAll(startRoutesWorld);

describe('The host of a request', () => {
  verifies('route.from-to', 'the gateway finds a host in any case', async () => {
    const host = new URL(world().single).host.toUpperCase();
    expect((await send(`${world().single}/x?y`, { headers: { host } })).status).toBe(200);
    expect(world().arrivedAt()).toBe('/x?y');
  });

  const UNKNOWN: readonly (readonly [string, (port: string) => string])[] = [
    ['of another name', (port) => `elsewhere.localhost:${port}`],
    ['below a known one', (port) => `x.single.localhost:${port}`],
    ['above a known one', (port) => `localhost:${port}`],
    ['on another port', () => 'single.localhost:1'],
    ['without the port', () => 'single.localhost'],
    ['that is an address', (port) => `127.0.0.1:${port}`],
    ['with a dot at its end', (port) => `single.localhost.:${port}`],
  ];

  for (const [what, host] of UNKNOWN) {
    verifies('route.unknown-host', `the gateway does not serve a host ${what}`, async () => {
      const headers = { host: host(new URL(world().single).port) };
      const arrivals = await world().arrivalsDuring(async () => {
        for (const path of ['/', JWKS, '/.well-known/oauth-protected-resource']) {
          const { status } = await send(world().single + path, { headers });
          expect({ path, status }).toEqual({ path, status: 421 });
        }
      });
      expect(arrivals).toBe(0);
    });
  }

  verifies('route.unknown-host', 'the gateway refuses a malformed host', async () => {
    const arrivals = await world().arrivalsDuring(async () => {
      for (const host of ['a b', 'single.localhost/x', 'alice@single.localhost', '[::1']) {
        const { status } = await send(world().single, { headers: { host } });
        expect({ host, status }).toEqual({ host, status: 400 });
      }
    });
    expect(arrivals).toBe(0);
  });
});

describe('The path of a request', () => {
  const AMBIGUOUS = ['//a', '/a//b', '/%61', '/a/%7Eb', '/b/%2da'];

  for (const path of AMBIGUOUS) {
    verifies(
      'route.ambiguous-path',
      `the path ${path} is refused on a host where the path chooses the route`,
      async () => {
        const arrivals = await world().arrivalsDuring(async () => {
          const answer = await send(world().several + path);
          expect(answer.status).toBe(400);
          expect(membersOf(answer)).toMatchObject({ error: 'ambiguous-path' });
        });
        expect(arrivals).toBe(0);
      },
    );

    verifies(
      'route.ambiguous-path',
      `the path ${path} is forwarded byte for byte on a host with one route`,
      async () => {
        expect((await send(`${world().single}${path}?a=%2e//b`)).status).toBe(200);
        expect(world().arrivedAt()).toBe(`${path}?a=%2e//b`);
      },
    );
  }

  const MALFORMED = ['/a/../b', '/a/.', '/%2e%2e/b', '/a%00', '/a%2', '/a%zz', '/a\\b', '/a/..;/b'];

  for (const path of MALFORMED) {
    verifies('route.ambiguous-path', `the path ${path} is refused on every host`, async () => {
      const arrivals = await world().arrivalsDuring(async () => {
        for (const origin of [world().single, world().several]) {
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
    verifies('route.from-to', `the path ${path} is forwarded as ${mapped}`, async () => {
      expect((await send(world().several + path)).status).toBe(200);
      expect(world().arrivedAt()).toBe(mapped);
    });
  }
});

const BODIES: readonly (readonly [string, RequestOptions])[] = [
  ['with a length', {}],
  ['in chunks', { headers: { 'transfer-encoding': 'chunked' } }],
];

for (const [how, options] of BODIES) {
  verifies('route.from-to', `a web route forwards a body of any size ${how}`, async () => {
    const body = 'x'.repeat(300_000);
    expect((await send(world().single, { method: 'PUT', ...options, body })).status).toBe(200);
    const { message } = world().upstream.requests.at(-1) ?? {};
    expect(message?.method).toBe('PUT');
  });
}
