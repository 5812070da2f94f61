import { describe, expect } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { send, type RequestOptions } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { sessionCookieAt, startWebRoutesWorld } from '../../support/web-routes-world.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startWebRoutesWorld);

const PREFLIGHT: RequestOptions = {
  method: 'OPTIONS',
  headers: { origin: 'https://spa.example.com', 'access-control-request-method': 'PUT' },
};

async function statusOf(path: string, options: RequestOptions = {}): Promise<number> {
  return (await send(world().ruled + path, options)).status;
}

/** Signs alice in, and returns the header fields of her browser. */
async function asAlice(): Promise<{ readonly cookie: string }> {
  const browser = new BrowserJar();
  await world().signIn(browser, world().ruled);
  return { cookie: sessionCookieAt(browser, world().ruled) };
}

describe('A preflight without credentials', () => {
  verifies('policy.preflights', 'reaches the upstream where cors_preflight allows it', async () => {
    await world().serve({
      allow: { or: [{ cors_preflight: true }, { domain: 'example.com' }] },
      deny: { or: [{ http_path: { starts_with: '/internal' } }, { groups: 'suspended' }] },
    });
    const answer = await send(`${world().ruled}/api`, PREFLIGHT);
    expect([answer.status, answer.body]).toEqual([200, 'upstream: /api']);
    const { headers = [] } = world().upstream.requests.at(-1) ?? {};
    expect(headers.map(([name]) => name.toLowerCase())).not.toContain('x-gateway-assertion');
    expect(await statusOf('/internal', PREFLIGHT)).toBe(401);
    expect(await statusOf('/api', { headers: await asAlice() })).toBe(200);
  });

  verifies('policy.preflights', 'needs no token where the route reads tokens', async () => {
    const { users, upstream, ruled } = world();
    const policy = { allow: { or: [{ cors_preflight: true }, { accept: true }] } };
    const bearerTokenFormat = 'idp_access_token';
    await users.configure({
      ruled: { from: ruled, to: upstream.origin, bearerTokenFormat, policy },
    });
    expect(await statusOf('/api', PREFLIGHT)).toBe(200);
    expect(await statusOf('/api', { method: 'OPTIONS' })).toBe(401);
    expect(await statusOf('/api')).toBe(401);
  });

  verifies('policy.preflights', 'is refused where the policy names no preflights', async () => {
    await world().serve({ allow: { or: [{ accept: true }] } });
    expect(await statusOf('/api', PREFLIGHT)).toBe(401);
  });

  verifies('policy.preflights', 'is refused where only deny names preflights', async () => {
    await world().serve({
      allow: { or: [{ accept: true }] },
      deny: { nor: [{ cors_preflight: true }] },
    });
    expect(await statusOf('/api', PREFLIGHT)).toBe(401);
  });

  verifies('policy.preflights', 'is the only request without a user that passes', async () => {
    await world().serve({ allow: { or: [{ cors_preflight: true }, { accept: true }] } });
    const { origin, ...withoutOrigin } = PREFLIGHT.headers ?? {};
    for (const request of [
      {},
      { method: 'OPTIONS' },
      { ...PREFLIGHT, method: 'GET' },
      { ...PREFLIGHT, headers: withoutOrigin },
      { ...PREFLIGHT, headers: { origin } },
      // With credentials it is a request of their user, and these are nobody's.
      { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, cookie: 'gatehouse-443=x' } },
      { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, authorization: 'Bearer x' } },
      // To the upstream it could be anything.
      { ...PREFLIGHT, body: 'x' },
      { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, 'X-HTTP-Method-Override': 'DELETE' } },
    ]) {
      expect(await statusOf('/api', request)).toBe(401);
    }
    expect(await statusOf('/api', PREFLIGHT)).toBe(200);
  });

  verifies(
    'policy.preflights',
    'does not let in a user whom the policy does not allow',
    async () => {
      await world().serve({ allow: { or: [{ cors_preflight: true }, { groups: 'nobody' }] } });
      const ofAlice = { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, ...(await asAlice()) } };
      expect(await statusOf('/api', PREFLIGHT)).toBe(200);
      expect(await statusOf('/api', ofAlice)).toBe(403);
    },
  );
});

describe('A policy about addresses and times', () => {
  verifies('policy.addresses-and-times', 'decides by the address of the client', async () => {
    await world().serve({
      allow: { and: [{ accept: true }] },
      deny: { or: [{ source_ip: ['127.0.1.0/24', '127.0.2.7'] }] },
    });
    const headers = await asAlice();
    for (const [from, status] of [
      ['127.0.0.1', 200],
      ['127.0.1.9', 403],
      ['127.0.2.7', 403],
      ['127.0.2.8', 200],
    ] as const) {
      expect([from, await statusOf('/', { headers, from })]).toEqual([from, status]);
    }
    // Nobody can choose their address: without trusted proxies this field is ignored.
    const spoofed = { ...headers, 'x-forwarded-for': '192.0.2.1' };
    expect(await statusOf('/', { headers: spoofed, from: '127.0.1.9' })).toBe(403);
  });

  verifies(
    'policy.addresses-and-times',
    'decides by the client that a trusted proxy names',
    async () => {
      const { users, upstream, ruled } = world();
      const policy = { allow: { and: [{ source_ip: '10.0.0.0/8' }] } };
      await world().serve({ allow: { or: [{ accept: true }] } });
      const cookie = await asAlice();
      await users.configure(
        { ruled: { from: ruled, to: upstream.origin, policy } },
        { trustedProxies: ['127.0.1.0/24'] },
      );
      const behind = (client: string, from: string): Promise<number> =>
        statusOf('/', { headers: { ...cookie, 'x-forwarded-for': client }, from });
      expect(await behind('10.1.2.3', '127.0.1.1')).toBe(200);
      expect(await behind('::ffff:10.1.2.3', '127.0.1.1')).toBe(200);
      expect(await behind('10.9.9.9, 192.0.2.1', '127.0.1.1')).toBe(403);
      expect(await behind('10.1.2.3', '127.0.2.1')).toBe(403);
    },
  );

  verifies('policy.addresses-and-times', 'decides by the time of the request', async () => {
    const HOUR = 3_600_000;
    const soon = new Date(Date.now() + HOUR / 2).toISOString().slice(0, 19);
    await world().serve({ allow: { and: [{ date: { before: soon } }] } });
    const headers = await asAlice();
    expect(await statusOf('/', { headers })).toBe(200);
    world().setClock(HOUR);
    expect(await statusOf('/', { headers })).toBe(403);
    world().setClock(0);
  });
});
