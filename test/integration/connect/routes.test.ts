import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import {
  routeOf,
  startConnectWorld,
  walk,
  walkUntilCallback,
  type ConnectWorld,
} from '../../support/connect-world.ts';
import { signInClient } from '../../support/signed-in-client.ts';

let world: ConnectWorld;

beforeEach(async () => {
  world = await startConnectWorld();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

describe('A host with several MCP servers', () => {
  beforeEach(async () => {
    await world.reconfigure((routes) => {
      routes['files'] = { ...routeOf(routes, 'files'), prefix: '/files' };
      routes['mail'] = { ...routeOf(routes, 'mail'), from: world.files.url, prefix: '/mail' };
    });
  });

  test.each(['/mail', '/mail/'])('connects the one that resource names by %s', async (path) => {
    const resource = encodeURIComponent(world.files.url + path);
    const url = `${world.connectUrl(world.files)}&resource=${resource}`;
    const page = await walk(new BrowserJar(), url);

    expect(page.url).toBe(`${world.app}/back`);
    expect(await world.isConnected('alice', world.mail)).toBe(true);
    expect(await world.isConnected('alice', world.files)).toBe(false);
  });

  test('connects none without resource', async () => {
    const page = await new BrowserJar().open(world.connectUrl(world.files));
    expect(page.status).toBe(400);
    expect(page.body).toContain('several MCP servers');
  });

  test('connects the only one that needs it without resource', async () => {
    await world.reconfigure((routes) => {
      routes['mail'] = { ...routeOf(routes, 'mail'), mcp: { server: {} } };
    });
    await walk(new BrowserJar(), world.connectUrl(world.files));
    expect(await world.isConnected('alice', world.files)).toBe(true);
  });
});

describe('A user whom the policy can allow nothing', () => {
  beforeEach(async () => {
    await world.reconfigure((routes) => {
      const { from, to = '', mcp = {} } = routeOf(routes, 'files');
      const policy = { allow: { and: [{ email: { is: 'bob@example.com' } }] } };
      routes['files'] = { from, to, mcp, policy };
    });
  });

  test('is not sent to the upstream by an application', async () => {
    const page = await walk(new BrowserJar(), world.connectUrl(world.files));

    expect(page.url).toBe(`${world.app}/back?connect_error=not_permitted`);
    expect(world.files.authorizationServer.authorizationRequests).toEqual([]);
  });

  test('is not sent to the upstream by a client, which gets its code', async () => {
    const { accessToken } = await signInClient(world.files.url);

    expect(accessToken).toMatch(/^gte_/);
    expect(world.files.authorizationServer.authorizationRequests).toEqual([]);
  });
});

describe('A server', () => {
  test('that needs no connection is as good as connected', async () => {
    await world.reconfigure((routes) => {
      routes['files'] = { ...routeOf(routes, 'files'), mcp: { server: {} } };
    });
    const page = await walk(new BrowserJar(), world.connectUrl(world.files));
    expect(page.url).toBe(`${world.app}/back`);
  });

  test.each(['javascript:alert(1)', 'http://evil.example/auth', 'data:text/html,evil'])(
    'whose authorization endpoint is %s gets no browser',
    async (endpoint) => {
      world.files.authorizationServer.changeMetadata = (metadata) => ({
        ...metadata,
        authorization_endpoint: endpoint,
      });
      const page = await walk(new BrowserJar(), world.connectUrl(world.files));
      expect(page.url).toBe(`${world.app}/back?connect_error=configuration_error`);
    },
  );

  test('sends nobody back to an application whose Route is gone', async () => {
    const browser = new BrowserJar();
    const callback = await walkUntilCallback(browser, world.connectUrl(world.files));
    await world.reconfigure((routes) => {
      delete routes['app'];
    });
    const page = await browser.open(callback);

    expect(page.status).toBe(200);
    expect(page.body).toContain('You are connected');
    expect(page.hops).toHaveLength(1);
  });
});
