import { describe, expect } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { startGatewayWithUsers } from '../../support/gateway-with-users.ts';
import { send } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { mcpHeaders, signInClient } from '../../support/signed-in-client.ts';
import {
  NAVIGATION,
  sessionCookieAt,
  startWebRoutesWorld,
} from '../../support/web-routes-world.ts';
import { verifies } from '../../requirements/verifies.ts';

const HOUR = 3_600_000;

const world = openForAll(startWebRoutesWorld);

describe('A session cookie', () => {
  verifies('web.session', 'a session cookie permits requests of every kind', async () => {
    const cookie = sessionCookieAt(world().browser, world().app);
    for (const [method, headers] of [
      ['GET', NAVIGATION],
      ['POST', {}],
      ['DELETE', { accept: 'application/json' }],
    ] as const) {
      const answer = await send(`${world().app}/x`, { method, headers: { ...headers, cookie } });
      expect(answer.body).toBe('upstream: /x');
    }
  });

  const USELESS: readonly (readonly [string, () => string])[] = [
    ['that was made up', () => `${nameAt(world().app)}=${'A'.repeat(43)}`],
    ['that is garbage', () => `${nameAt(world().app)}=garbage`],
    ['that is empty', () => `${nameAt(world().app)}=`],
    ['that was altered', () => `${sessionCookieAt(world().browser, world().app).slice(0, -1)}.`],
    [
      'under another name',
      () => sessionCookieAt(world().browser, world().app).replace('gatehouse', 'session'),
    ],
    [
      'under the name for https',
      () => sessionCookieAt(world().browser, world().app).replace(/^[^=]+/, '__Host-gatehouse'),
    ],
    [
      'that comes twice',
      () => `${sessionCookieAt(world().browser, world().app)}; ${nameAt(world().app)}=planted`,
    ],
  ];

  for (const [what, cookie] of USELESS) {
    verifies('web.session', `a session cookie ${what} is refused`, async () => {
      const arrivals = await world().arrivalsDuring(async () => {
        expect((await send(world().app, { headers: { cookie: cookie() } })).status).toBe(401);
      });
      expect(arrivals).toBe(0);
    });
  }

  function nameAt(origin: string): string {
    return `gatehouse-${new URL(origin).port}`;
  }

  verifies('web.session', 'a session cookie of one host is refused at another', async () => {
    const arrivals = await world().arrivalsDuring(async () => {
      const headers = { cookie: sessionCookieAt(world().browser, world().app) };
      expect((await send(world().other, { headers })).status).toBe(401);
    });
    expect(arrivals).toBe(0);
  });

  verifies(
    'web.session',
    'a session cookie is refused at once after the user has signed out',
    async () => {
      const leaving = new BrowserJar();
      await world().signIn(leaving, world().app);
      const headers = { cookie: sessionCookieAt(leaving, world().app) };
      expect((await send(world().app, { headers })).status).toBe(200);
      await leaving.submit(await leaving.open(`${world().app}/.gateway/sign_out`));
      expect((await send(world().app, { headers })).status).toBe(401);
    },
  );

  verifies(
    'web.session',
    'a session cookie is refused after the 14 hours of its session',
    async () => {
      const aging = new BrowserJar();
      await world().signIn(aging, world().app);
      const headers = { cookie: sessionCookieAt(aging, world().app) };
      try {
        world().setClock(13.9 * HOUR);
        expect((await send(world().app, { headers })).status).toBe(200);
        world().setClock(14.1 * HOUR);
        expect((await send(world().app, { headers })).status).toBe(401);
      } finally {
        world().setClock(0);
      }
    },
  );

  verifies(
    'bearer.default-unchanged',
    'a web route requires a session cookie, whatever the bearer token',
    async () => {
      const { accessToken } = await signInClient(world().mcp);
      const arrivals = await world().arrivalsDuring(async () => {
        for (const token of [accessToken, 'opaque', 'gte_x']) {
          const { status } = await send(world().app, {
            headers: { authorization: `Bearer ${token}` },
          });
          expect(status).toBe(401);
        }
      });
      expect(arrivals).toBe(0);
    },
  );

  verifies(
    'bearer.default-unchanged',
    'a session cookie permits a request with a bearer token, which is forwarded',
    async () => {
      const headers = {
        cookie: sessionCookieAt(world().browser, world().app),
        authorization: 'Bearer opaque',
      };
      expect((await send(world().app, { headers })).status).toBe(200);
      expect(world().upstream.requests.at(-1)?.message.headers.authorization).toBe('Bearer opaque');
    },
  );
});

verifies(
  'web.session',
  'one sign-in serves the browser and the MCP client on every host',
  async () => {
    await using together = await startGatewayWithUsers();
    const { identityProvider } = together;
    const [one, two] = [together.originOf('one'), together.originOf('two')];
    const tools = together.originOf('tools');
    const route = { to: world().upstream.origin, allowAnyAuthenticatedUser: true };
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
    expect((await send(tools, { headers: mcpHeaders(accessToken) })).status).toBe(200);
    expect(identityProvider.authorizationRequests).toHaveLength(1);
    // Consent is given on the authenticate host, so the MCP host has no session.
    expect(who.cookies.filter(({ host }) => host === new URL(tools).hostname)).toEqual([]);
  },
);
