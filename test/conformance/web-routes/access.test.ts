import { describe, expect } from '@jest/globals';

import type { Route } from '../../../crds/types.ts';
import { BrowserJar } from '../../support/browser-jar.ts';
import { membersOf, send, type RequestOptions } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { startUpstream } from '../../support/upstream.ts';
import {
  NAVIGATION,
  sessionCookieAt,
  startWebRoutesWorld,
} from '../../support/web-routes-world.ts';
import { verifies } from '../../requirements/verifies.ts';

type Policy = NonNullable<Route['spec']['policy']>;

const world = openForAll(startWebRoutesWorld);

verifies(
  'web.public',
  'a public route serves every request, whatever credentials it has',
  async () => {
    const requests: readonly RequestOptions[] = [
      {},
      { headers: NAVIGATION },
      { method: 'POST', body: 'x' },
      {
        headers: {
          cookie: sessionCookieAt(world().browser, world().app),
          authorization: 'Bearer x',
        },
      },
    ];
    for (const request of requests) {
      const answer = await send(`${world().open}/x`, request);
      expect(answer.body).toBe('upstream: /x');
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
  },
);

verifies('web.any-user', 'a route for any authenticated user serves every user', async () => {
  for (const login of ['alice', 'bob', 'carol']) {
    expect((await world().signIn(new BrowserJar(), world().app, login)).status).toBe(200);
  }
});

describe('The policy of a web route', () => {
  const RULES: readonly (readonly [string, Policy, readonly string[]])[] = [
    ['groups', { allow: { or: [{ groups: { has: 'admins' } }] } }, ['carol']],
    ['email', { allow: { or: [{ email: { in: ['BOB@example.com'] } }] } }, ['bob']],
    ['claims', { allow: { and: [{ 'claim/name': 'Alice Adler' }] } }, ['alice']],
    ['users', { allow: { not: [{ user: 'alice' }] } }, ['bob', 'carol']],
    [
      'a denial',
      { allow: { and: [{ domain: 'example.com' }] }, deny: { or: [{ groups: { has: 'sales' } }] } },
      ['alice', 'carol'],
    ],
  ];

  for (const [what, policy, allowed] of RULES) {
    verifies(
      ['route.policy', 'policy.groups-of-criteria'],
      `a policy decides by ${what}`,
      async () => {
        await world().serve(policy);
        const passed: string[] = [];
        for (const login of ['alice', 'bob', 'carol']) {
          const page = await world().signIn(new BrowserJar(), world().ruled, login);
          if (page.status === 200) passed.push(login);
          else expect(page.status).toBe(403);
        }
        expect(passed).toEqual(allowed);
      },
    );
  }

  verifies('route.policy', 'a policy decides by method', async () => {
    await world().serve({ allow: { and: [{ http_method: { in: ['GET', 'HEAD'] } }] } });
    const who = new BrowserJar();
    await world().signIn(who, world().ruled);
    const headers = { cookie: sessionCookieAt(who, world().ruled) };
    const arrivals = await world().arrivalsDuring(async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
        expect((await send(world().ruled, { method, headers })).status).toBe(403);
      }
    });
    expect(arrivals).toBe(0);
    expect((await send(world().ruled, { headers })).status).toBe(200);
  });

  verifies(
    ['route.policy', 'route.ambiguous-path'],
    'a policy decides by path, and other spellings of the path are refused',
    async () => {
      await world().serve({
        allow: { and: [{ accept: true }] },
        deny: { or: [{ http_path: { starts_with: '/admin' } }] },
      });
      const who = new BrowserJar();
      await world().signIn(who, `${world().ruled}/x`);
      const headers = { cookie: sessionCookieAt(who, world().ruled) };
      const arrivals = await world().arrivalsDuring(async () => {
        expect((await send(`${world().ruled}/admin/x`, { headers })).status).toBe(403);
        const spellings = [
          '/%61dmin',
          '//admin',
          '/x/../admin',
          '/./admin',
          '/adm%69n',
          '/x/%2e%2e/admin',
        ];
        for (const path of [...spellings, '/x/..%2fadmin', '/%2fadmin']) {
          const { status } = await send(world().ruled + path, { headers });
          expect({ path, status }).toEqual({ path, status: 400 });
        }
      });
      expect(arrivals).toBe(0);
      expect((await send(`${world().ruled}/x/admin`, { headers })).status).toBe(200);
    },
  );

  verifies('route.policy', 'a denial is a page for a browser and JSON for a program', async () => {
    await world().serve({ allow: { and: [{ reject: true }] } });
    const who = new BrowserJar();
    const page = await world().signIn(who, world().ruled);
    expect(page.status).toBe(403);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain(page.headers['x-request-id']);
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");

    const answer = await send(world().ruled, {
      headers: { cookie: sessionCookieAt(who, world().ruled) },
    });
    expect(answer.status).toBe(403);
    expect(membersOf(answer)).toEqual({
      error: 'reject',
      message: expect.any(String),
      request_id: answer.headers['x-request-id'],
    });
  });
});

verifies(
  'route.from-to',
  'an unreachable upstream is a page for a browser and JSON for a program',
  async () => {
    const down = world().users.originOf('down');
    await using gone = await startUpstream(() => undefined);
    const to = gone.origin;
    await gone[Symbol.asyncDispose]();
    await world().users.configure({
      down: { from: down, to, allowPublicUnauthenticatedAccess: true },
    });
    const page = await send(down, { headers: NAVIGATION });
    expect(page.status).toBe(502);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain(page.headers['x-request-id']);
    const answer = await send(down);
    expect(answer.status).toBe(502);
    expect(membersOf(answer)).toMatchObject({ error: 'upstream-unreachable' });
    expect(page.body + answer.body).not.toContain(new URL(to).port);
  },
);
