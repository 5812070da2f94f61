import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import type { Route } from '../../crds/types.ts';
import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, send, type RequestOptions } from '../support/http-client.ts';
import { signInClient } from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

type Policy = NonNullable<Route['spec']['policy']>;
type Headers = NonNullable<RequestOptions['headers']>;

const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' };
const HOUR = 3_600_000;

let offset = 0;
let world: GatewayWithUsers;
let upstream: Upstream;
let app: string;
let other: string;
let mcp: string;
let open: string;
let ruled: string;
/** Signed in at `app`. */
let browser: BrowserJar;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.end(`upstream: ${message.url ?? ''}`);
  });
  world = await startGatewayWithUsers({ now: () => Date.now() + offset });
  [app, other, mcp] = [world.originOf('app'), world.originOf('other'), world.originOf('mcp')];
  [open, ruled] = [world.originOf('open'), world.originOf('ruled')];
  await serve({ allow: { and: [{ accept: true }] } });
  browser = new BrowserJar();
  await signIn(browser, app);
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Serves every host, one of them by a policy. */
async function serve(policy: Policy): Promise<void> {
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  await world.configure({
    app: { ...route, from: app },
    other: { ...route, from: other },
    mcp: { ...route, from: mcp, mcp: { server: {} } },
    open: { from: open, to: upstream.origin, allowPublicUnauthenticatedAccess: true },
    ruled: { from: ruled, to: upstream.origin, policy },
  });
}

/** Opens a page, and signs in at the identity provider if that is where it leads. */
async function signIn(who: BrowserJar, url: string, login = 'alice'): Promise<BrowserPage> {
  const page = await who.open(url);
  return page.url.startsWith(world.identityProvider.issuer) ? who.submit(page, { login }) : page;
}

function sessionCookie(of: BrowserJar, origin: string): string {
  const name = `gatehouse-${new URL(origin).port}`;
  return `${name}=${of.cookie(new URL(origin).hostname, name)?.value ?? ''}`;
}

async function arrivalsDuring(run: () => Promise<unknown>): Promise<number> {
  const before = upstream.requests.length;
  await run();
  return upstream.requests.length - before;
}

describe('Without a session', () => {
  const NAVIGATIONS: readonly (readonly [string, string, Headers])[] = [
    ['GET of a page', 'GET', NAVIGATION],
    ['GET of a page by a browser that says only what it accepts', 'GET', { accept: 'text/html' }],
    ['HEAD of a page', 'HEAD', NAVIGATION],
    ['GET of a page with a bearer token', 'GET', { ...NAVIGATION, authorization: 'Bearer x' }],
  ];

  for (const [what, method, headers] of NAVIGATIONS) {
    verifies('web.sign-in-redirect', `a ${what} is sent to sign in`, async () => {
      const arrivals = await arrivalsDuring(async () => {
        const answer = await send(`${app}/a?b`, { method, headers });
        expect(answer.status).toBe(303);
        expect(answer.headers.location).toMatch(
          new RegExp(`^${app}/\\.gateway/sign_in\\?request=`),
        );
        expect(answer.headers['cache-control']).toBe('no-store');
      });
      expect(arrivals).toBe(0);
    });
  }

  const OTHERS: readonly (readonly [string, string, Headers])[] = [
    ['GET of a script', 'GET', { 'sec-fetch-mode': 'cors', accept: 'text/html' }],
    ['GET of an image', 'GET', { 'sec-fetch-mode': 'no-cors', accept: 'image/*' }],
    ['GET of a program', 'GET', { accept: '*/*' }],
    ['GET that accepts JSON', 'GET', { accept: 'application/json' }],
    ['GET that says nothing', 'GET', {}],
    ['GET with a bearer token', 'GET', { authorization: 'Bearer opaque' }],
    ['posted form', 'POST', NAVIGATION],
    ['PUT', 'PUT', { accept: 'text/html' }],
    ['DELETE', 'DELETE', NAVIGATION],
    [
      'preflight',
      'OPTIONS',
      { origin: 'https://x.example', 'access-control-request-method': 'GET' },
    ],
  ];

  for (const [what, method, headers] of OTHERS) {
    verifies('web.sign-in-redirect', `a ${what} is refused and not redirected`, async () => {
      const arrivals = await arrivalsDuring(async () => {
        const answer = await send(`${app}/a?b`, { method, headers });
        expect({ status: answer.status, location: answer.headers.location }).toEqual({
          status: 401,
          location: undefined,
        });
        expect(answer.headers).not.toHaveProperty('set-cookie');
        expect(answer.body).toContain(answer.headers['x-request-id']);
      });
      expect(arrivals).toBe(0);
    });
  }

  const URLS = [
    ...['/', '/a%20b/c?x=1&y=%2F%26&z=a+b', '/x?y=?&&=', '/%C3%BC?q=%F0%9F%98%80#f'],
    ...['/a;b=c/d,e?(x)=*y', '/search?q=https://elsewhere.example/%2e%2e/', '/a//b/'],
  ];

  for (const url of URLS) {
    verifies('web.sign-in-redirect', `a page is restored after sign-in: ${url}`, async () => {
      const [target = ''] = url.split('#');
      const page = await signIn(new BrowserJar(), app + target);
      expect(page.status).toBe(200);
      expect(page.body).toBe(`upstream: ${target}`);
      expect(page.url).toBe(app + target);
    });
  }

  verifies('as.no-open-redirect', 'no path leads to another host after sign-in', async () => {
    for (const path of [
      '//evil.example/x',
      '//evil.example',
      '///evil.example',
      '//evil.example//',
    ]) {
      const page = await signIn(new BrowserJar(), app + path);
      expect(new URL(page.url).host).toBe(new URL(app).host);
      for (const { url } of page.hops) expect(new URL(url).hostname).not.toBe('evil.example');
    }
  });
});

describe('A session cookie', () => {
  verifies('web.session', 'lets its user through, whatever the request', async () => {
    const cookie = sessionCookie(browser, app);
    for (const [method, headers] of [
      ['GET', NAVIGATION],
      ['POST', {}],
      ['DELETE', { accept: 'application/json' }],
    ] as const) {
      const answer = await send(`${app}/x`, { method, headers: { ...headers, cookie } });
      expect(answer.body).toBe('upstream: /x');
    }
  });

  const USELESS: readonly (readonly [string, () => string])[] = [
    ['that was made up', () => `${nameAt(app)}=${'A'.repeat(43)}`],
    ['that is garbage', () => `${nameAt(app)}=garbage`],
    ['that is empty', () => `${nameAt(app)}=`],
    ['that was altered', () => `${sessionCookie(browser, app).slice(0, -1)}.`],
    ['under another name', () => sessionCookie(browser, app).replace('gatehouse', 'session')],
    ['of the secure kind', () => sessionCookie(browser, app).replace(/^[^=]+/, '__Host-gatehouse')],
    ['that comes twice', () => `${sessionCookie(browser, app)}; ${nameAt(app)}=planted`],
  ];

  for (const [what, cookie] of USELESS) {
    verifies('web.session', `${what} lets nobody through`, async () => {
      const arrivals = await arrivalsDuring(async () => {
        expect((await send(app, { headers: { cookie: cookie() } })).status).toBe(401);
      });
      expect(arrivals).toBe(0);
    });
  }

  function nameAt(origin: string): string {
    return `gatehouse-${new URL(origin).port}`;
  }

  verifies('web.session', 'of one host lets nobody through at another', async () => {
    const arrivals = await arrivalsDuring(async () => {
      const headers = { cookie: sessionCookie(browser, app) };
      expect((await send(other, { headers })).status).toBe(401);
    });
    expect(arrivals).toBe(0);
  });

  verifies('web.session', 'ends with sign-out, at once', async () => {
    const leaving = new BrowserJar();
    await signIn(leaving, app);
    const headers = { cookie: sessionCookie(leaving, app) };
    expect((await send(app, { headers })).status).toBe(200);
    await leaving.submit(await leaving.open(`${app}/.gateway/sign_out`));
    expect((await send(app, { headers })).status).toBe(401);
  });

  verifies('web.session', 'ends with its session, after 14 hours', async () => {
    const aging = new BrowserJar();
    await signIn(aging, app);
    const headers = { cookie: sessionCookie(aging, app) };
    try {
      offset = 13.9 * HOUR;
      expect((await send(app, { headers })).status).toBe(200);
      offset = 14.1 * HOUR;
      expect((await send(app, { headers })).status).toBe(401);
    } finally {
      offset = 0;
    }
  });

  verifies('bearer.default-unchanged', 'is asked for whatever the bearer token', async () => {
    const { accessToken } = await signInClient(mcp);
    const arrivals = await arrivalsDuring(async () => {
      for (const token of [accessToken, 'opaque', 'gte_x']) {
        const { status } = await send(app, { headers: { authorization: `Bearer ${token}` } });
        expect(status).toBe(401);
      }
    });
    expect(arrivals).toBe(0);
  });

  verifies('bearer.default-unchanged', 'passes beside a bearer token', async () => {
    const headers = { cookie: sessionCookie(browser, app), authorization: 'Bearer opaque' };
    expect((await send(app, { headers })).status).toBe(200);
    expect(upstream.requests.at(-1)?.message.headers.authorization).toBe('Bearer opaque');
  });
});

verifies('web.session', 'One sign-in serves every host, browser and MCP client alike', async () => {
  await using together = await startGatewayWithUsers();
  const { identityProvider } = together;
  const [one, two] = [together.originOf('one'), together.originOf('two')];
  const tools = together.originOf('tools');
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  await together.configure(
    {
      one: { ...route, from: one },
      two: { ...route, from: two },
      tools: { ...route, from: tools, mcp: { server: {} } },
    },
    { authenticateUrl: together.originOf('auth') },
  );
  const who = new BrowserJar();
  const first = await who.submit(await who.open(`${one}/x`), { login: 'alice' });
  expect({ status: first.status, url: first.url }).toEqual({ status: 200, url: `${one}/x` });

  const second = await who.open(`${two}/y`);
  expect({ status: second.status, url: second.url }).toEqual({ status: 200, url: `${two}/y` });
  const { accessToken } = await signInClient(tools, { browser: who });
  const headers = { authorization: `Bearer ${accessToken}` };
  expect((await send(tools, { headers })).status).toBe(200);
  expect(identityProvider.authorizationRequests).toHaveLength(1);
  // Consent is given where no upstream's script can reach: the MCP host has no session at all.
  expect(who.cookies.filter(({ host }) => host === new URL(tools).hostname)).toEqual([]);
});

verifies(
  'web.public',
  'A public route asks nobody, whoever it is and whatever they bring',
  async () => {
    const requests: readonly RequestOptions[] = [
      {},
      { headers: NAVIGATION },
      { method: 'POST', body: 'x' },
      { headers: { cookie: sessionCookie(browser, app), authorization: 'Bearer x' } },
    ];
    for (const request of requests) {
      const answer = await send(`${open}/x`, request);
      expect(answer.body).toBe('upstream: /x');
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
  },
);

verifies('web.any-user', 'A route for any authenticated user takes every one', async () => {
  for (const login of ['alice', 'bob', 'carol']) {
    expect((await signIn(new BrowserJar(), app, login)).status).toBe(200);
  }
});

describe('A policy on a web route', () => {
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
    verifies(['route.policy', 'policy.groups-of-criteria'], `decides by ${what}`, async () => {
      await serve(policy);
      const passed: string[] = [];
      for (const login of ['alice', 'bob', 'carol']) {
        const page = await signIn(new BrowserJar(), ruled, login);
        if (page.status === 200) passed.push(login);
        else expect(page.status).toBe(403);
      }
      expect(passed).toEqual(allowed);
    });
  }

  verifies('route.policy', 'decides by method', async () => {
    await serve({ allow: { and: [{ http_method: { in: ['GET', 'HEAD'] } }] } });
    const who = new BrowserJar();
    await signIn(who, ruled);
    const headers = { cookie: sessionCookie(who, ruled) };
    const arrivals = await arrivalsDuring(async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
        expect((await send(ruled, { method, headers })).status).toBe(403);
      }
    });
    expect(arrivals).toBe(0);
    expect((await send(ruled, { headers })).status).toBe(200);
  });

  verifies(
    ['route.policy', 'route.ambiguous-path'],
    'decides by path, and by no other spelling of it',
    async () => {
      await serve({
        allow: { and: [{ accept: true }] },
        deny: { or: [{ http_path: { starts_with: '/admin' } }] },
      });
      const who = new BrowserJar();
      await signIn(who, `${ruled}/x`);
      const headers = { cookie: sessionCookie(who, ruled) };
      const arrivals = await arrivalsDuring(async () => {
        expect((await send(`${ruled}/admin/x`, { headers })).status).toBe(403);
        const spellings = [
          '/%61dmin',
          '//admin',
          '/x/../admin',
          '/./admin',
          '/adm%69n',
          '/x/%2e%2e/admin',
        ];
        for (const path of [...spellings, '/x/..%2fadmin', '/%2fadmin']) {
          const { status } = await send(ruled + path, { headers });
          expect({ path, status }).toEqual({ path, status: 400 });
        }
      });
      expect(arrivals).toBe(0);
      expect((await send(`${ruled}/x/admin`, { headers })).status).toBe(200);
    },
  );

  verifies('route.policy', 'that denies shows people a page, and programs JSON', async () => {
    await serve({ allow: { and: [{ reject: true }] } });
    const who = new BrowserJar();
    const page = await signIn(who, ruled);
    expect(page.status).toBe(403);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain(page.headers['x-request-id']);
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");

    const answer = await send(ruled, { headers: { cookie: sessionCookie(who, ruled) } });
    expect(answer.status).toBe(403);
    expect(membersOf(answer)).toEqual({
      error: 'reject',
      message: expect.any(String),
      request_id: answer.headers['x-request-id'],
    });
  });
});

verifies('route.from-to', 'An upstream that is down is told of by page and by JSON', async () => {
  const down = world.originOf('down');
  await using gone = await startUpstream(() => undefined);
  const to = gone.origin;
  await gone[Symbol.asyncDispose]();
  await world.configure({ down: { from: down, to, allowPublicUnauthenticatedAccess: true } });
  const page = await send(down, { headers: NAVIGATION });
  expect(page.status).toBe(502);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).toContain(page.headers['x-request-id']);
  const answer = await send(down);
  expect(answer.status).toBe(502);
  expect(membersOf(answer)).toMatchObject({ error: 'upstream-unreachable' });
  expect(page.body + answer.body).not.toContain(new URL(to).port);
});
