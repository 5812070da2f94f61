import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import {
  routeOf,
  startConnectWorld,
  walk,
  walkUntilCallback,
  type ConnectWorld,
} from '../../support/connect-world.ts';

const HOUR = 3_600_000;

let world: ConnectWorld;

beforeEach(async () => {
  world = await startConnectWorld();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

describe('The link that a client shows its user', () => {
  test('leads through sign-in and the upstream to a page that says to go back', async () => {
    const page = await walk(new BrowserJar(), world.linkFor('alice', world.files));

    expect(page.status).toBe(200);
    expect(page.body).toContain('You are connected');
    expect(page.body).toContain('go back to your\n    application');
    expect(await world.isConnected('alice', world.files)).toBe(true);
  });

  test('says so to a user who is connected already', async () => {
    const browser = new BrowserJar();
    await walk(browser, world.linkFor('alice', world.files));
    const page = await browser.open(world.linkFor('alice', world.files));

    expect(page.body).toContain('You are connected');
    expect(page.hops).toHaveLength(1);
  });

  test('is refused to another user, without a name', async () => {
    const browser = new BrowserJar();
    const link = world.linkFor('alice', world.files);
    const page = await walk(browser, link, { login: 'bob' });

    expect(page.status).toBe(403);
    expect(page.body).toContain('another user');
    expect(page.body).not.toMatch(/alice|bob/);
    expect(world.files.authorizationServer.authorizationRequests).toEqual([]);

    // The page offers to sign out, and the link works for its user then.
    await browser.submit(await browser.follow(page, '/.gateway/sign_out'));
    browser.deleteCookies(() => true);
    expect((await walk(browser, link)).body).toContain('You are connected');
    expect(await world.isConnected('bob', world.files)).toBe(false);
  });

  test('is refused after an hour', async () => {
    const link = world.linkFor('alice', world.files);
    world.clock.offset = HOUR;
    const page = await new BrowserJar().open(link);

    expect(page.status).toBe(400);
    expect(page.body).toContain('expired');
  });

  test('is refused at the host of another server', async () => {
    const link = world.linkFor('alice', world.files).replace(world.files.url, world.mail.url);
    expect((await new BrowserJar().open(link)).status).toBe(400);
  });

  test('is refused when its Route is gone', async () => {
    const link = world.linkFor('alice', world.files);
    await world.reconfigure((routes) => {
      routes['files'] = { ...routeOf(routes, 'files'), mcp: { server: {} } };
    });
    expect((await new BrowserJar().open(link)).status).toBe(400);
  });

  test('ends at a page if the user says no', async () => {
    const page = await walk(new BrowserJar(), world.linkFor('alice', world.files), {
      upstreamLogin: '',
    });

    expect(page.body).toContain('Connecting did not work');
    expect(page.body).toContain('said no');
    expect(page.body).toContain(String(page.headers['x-request-id']));
  });

  test('ends at a page with the entry that an administrator has to add', async () => {
    world.files.mcpServer.changeMetadata = (metadata) => ({
      ...metadata,
      authorization_servers: ['https://login.evil.example'],
    });
    const page = await walk(new BrowserJar(), world.linkFor('alice', world.files));

    expect(page.body).toContain('mcpAllowedAsMetadataDomains');
    expect(page.body).toContain('login.evil.example');
    expect(world.users.gateway.logs()).toContainEqual(
      expect.objectContaining({
        ...{ message: 'connection failed', reason: 'upstream-auth-domain-not-allowed' },
        route: 'default/files',
      }),
    );
  });
});

describe('A registration that the authorization server has forgotten', () => {
  test('is made anew, and the user is sent there once more', async () => {
    const { authorizationServer } = world.files;
    const browser = new BrowserJar();
    const callback = await walkUntilCallback(browser, world.connectUrl(world.files));
    await authorizationServer.forget('Client');
    const page = await walk(browser, callback);

    expect(page.url).toBe(`${world.app}/back`);
    expect(authorizationServer.hits('registration')).toBe(2);
    expect(await world.isConnected('alice', world.files)).toBe(true);
  });

  test('is made anew once only', async () => {
    const { authorizationServer } = world.files;
    authorizationServer.replace('token', (_message, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end('{"error":"invalid_client"}');
    });
    const page = await walk(new BrowserJar(), world.connectUrl(world.files));

    expect(page.url).toBe(`${world.app}/back?connect_error=configuration_error`);
    expect(authorizationServer.hits('token')).toBe(2);
  });
});

describe('With SameSite=Strict cookies', () => {
  beforeEach(async () => {
    await world[Symbol.asyncDispose]();
    world = await startConnectWorld({ settings: { cookie: { sameSite: 'Strict' } } });
  });

  test('a user connects, although the browser comes from another site', async () => {
    const page = await walk(new BrowserJar(), world.connectUrl(world.files));

    expect(page.url).toBe(`${world.app}/back`);
    expect(await world.isConnected('alice', world.files)).toBe(true);
  });

  test('a user begins two connections from an application, and finishes both', async () => {
    const browser = new BrowserJar();
    const application = await walk(browser, world.app);
    const begun = [];
    for (let tab = 0; tab < 2; tab += 1) {
      begun.push(await browser.follow(application, world.connectUrl(world.files)));
    }
    for (const atUpstream of begun) {
      const page = await browser.submit(atUpstream, { login: 'alice@upstream' });
      expect(page.url).toBe(`${world.app}/back`);
    }
  });

  test('a response connects nobody in the browser of another user', async () => {
    const [alice, bob] = [new BrowserJar(), new BrowserJar()];
    const callback = await walkUntilCallback(alice, world.connectUrl(world.files));
    await walkUntilCallback(bob, world.connectUrl(world.files), { login: 'bob' });

    expect((await bob.open(callback)).status).toBe(403);
    expect(await world.isConnected('alice', world.files)).toBe(false);
    expect(await world.isConnected('bob', world.files)).toBe(false);
  });

  test('a browser that is not signed in any more is refused, and not sent round and round', async () => {
    const browser = new BrowserJar();
    const callback = await walkUntilCallback(browser, world.connectUrl(world.files));
    browser.deleteCookies(({ name }) => !name.includes('-connect-'));
    const page = await browser.open(callback);

    expect(page.status).toBe(403);
    expect(page.hops).toHaveLength(2);
  });
});
