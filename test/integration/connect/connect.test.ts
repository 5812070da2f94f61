import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import {
  startConnectWorld,
  walk,
  walkUntilCallback,
  type ConnectWorld,
} from '../../support/connect-world.ts';
import { send } from '../../support/http-client.ts';

const REQUESTS_PER_MINUTE = 1000;

let world: ConnectWorld;

beforeAll(async () => {
  world = await startConnectWorld();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

describe('A user who opens the link of an application to connect a server', () => {
  test('signs in, authorizes the gateway at the upstream, and returns to the application', async () => {
    const browser = new BrowserJar();
    const { files } = world;
    const page = await walk(browser, world.connectUrl(files, `${world.app}/back?tab=1`));

    expect(page.url).toBe(`${world.app}/back?tab=1`);
    const [sent] = files.authorizationServer.authorizationRequests.slice(-1);
    expect(sent?.get('redirect_uri')).toBe(`${files.url}/.gateway/mcp/client/oauth/callback`);
    expect(sent?.get('code_challenge_method')).toBe('S256');
    expect(world.lastAuditEvent()).toMatchObject({
      ...{ event: 'connection-made', user: 'alice', resource: files.url },
    });
  });

  test('returns at once if they are connected already', async () => {
    const browser = new BrowserJar();
    await walk(browser, world.connectUrl(world.files));
    const { authorizationRequests } = world.files.authorizationServer;
    const before = authorizationRequests.length;
    const page = await browser.open(world.connectUrl(world.files));

    expect(page.url).toBe(`${world.app}/back`);
    expect(authorizationRequests).toHaveLength(before);
  });

  test('returns with an error if they cancel at the upstream', async () => {
    const page = await walk(new BrowserJar(), world.connectUrl(world.mail), {
      ...{ login: 'bob', upstreamLogin: '' },
    });

    expect(page.url).toBe(`${world.app}/back?connect_error=access_denied`);
    expect(world.lastAuditEvent()).toMatchObject({ event: 'connection-failed', user: 'bob' });
  });

  test('leaves no referrer, and no code in the address of a page', async () => {
    const page = await walk(new BrowserJar(), world.connectUrl(world.mail), { login: 'bob' });
    const own = page.hops.filter(({ url }) => url.startsWith(world.mail.url));

    expect(own.map(({ headers }) => headers['referrer-policy'])).not.toContain(undefined);
    expect(new Set(own.map(({ status }) => status))).toEqual(new Set([303]));
  });
});

describe('A link to connect', () => {
  test.each([
    ['without redirect_url', ''],
    ['to another site', '?redirect_url=https%3A%2F%2Fevil.example%2F'],
    ['to a route that is no application', '?redirect_url=WEB'],
    ['with two redirect_url', '?redirect_url=APP&redirect_url=APP'],
    ['with a resource of another host', '?redirect_url=APP&resource=https%3A%2F%2Fevil.example%2F'],
    ['that the gateway did not make', '?link=forged'],
  ])('%s is refused with a page, before anybody signs in', async (_which, query) => {
    const { users, app, files } = world;
    const filled = query
      .replaceAll('WEB', encodeURIComponent(users.originOf('web')))
      .replaceAll('APP', encodeURIComponent(app));
    const page = await new BrowserJar().open(`${files.url}/.gateway/mcp/connect${filled}`);

    expect(page.status).toBe(400);
    expect(page.hops).toHaveLength(1);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.body).not.toContain('evil.example');
  });

  test.each([
    ['in a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['as an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['in advance', { 'sec-purpose': 'prefetch' }],
    ['by a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
  ])('does nothing if a page loads it %s', async (_how, headers) => {
    const page = await new BrowserJar().open(world.connectUrl(world.files), { headers });
    expect(page.status).toBe(403);
    expect(page.hops).toHaveLength(1);
  });

  test('is not there on hosts without an MCP server', async () => {
    const page = await new BrowserJar().open(`${world.app}/.gateway/mcp/connect`);
    expect(page.status).toBe(404);
  });

  test('is refused if it is too long for sign-in to return to', async () => {
    const url = `${world.app}/?q=${'%20'.repeat(490)}`;
    const page = await new BrowserJar().open(world.connectUrl(world.files, url));
    expect(page.status).toBe(400);
    expect(page.body).toContain('too long');
  });
});

describe('The response of the upstream', () => {
  test('works once', async () => {
    const browser = new BrowserJar();
    const callback = await walkUntilCallback(browser, world.connectUrl(world.mail), {
      login: 'carol',
    });
    expect((await browser.open(callback)).url).toBe(`${world.app}/back`);

    const again = await browser.open(callback);
    expect(again.status).toBe(400);
    expect(again.body).toContain('was done before');
  });

  test.each([
    ['nothing', '', 400],
    ['only an error', '?error=access_denied', 400],
    ['an unknown state', '?state=unknown&code=code', 400],
    ['two states', '?state=one&state=two&code=code', 400],
  ])('with %s is refused with a page', async (_what, query, status) => {
    const url = `${world.files.url}/.gateway/mcp/client/oauth/callback${query}`;
    const page = await new BrowserJar().open(url);
    expect(page.status).toBe(status);
    expect(page.body).not.toContain('access_denied');
  });
});

// Attack: strangers make the gateway check links and sign-ins without end.
test('A network that asks too often is refused for a while', async () => {
  const url = world.connectUrl(world.files);
  let status = 0;
  for (let request = 0; request <= REQUESTS_PER_MINUTE && status !== 429; request += 1) {
    ({ status } = await send(url));
    expect([303, 429]).toContain(status);
  }
  expect(status).toBe(429);
});
