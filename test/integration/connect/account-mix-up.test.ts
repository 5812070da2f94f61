import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import {
  routeOf,
  startConnectWorld,
  walk,
  walkUntilCallback,
  type ConnectableServer,
  type ConnectWorld,
} from '../../support/connect-world.ts';

const MINUTE = 60_000;

const ERROR = { error: 'access_denied', error_description: 'Call this number' };

let world: ConnectWorld;

beforeEach(async () => {
  world = await startConnectWorld();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Returns the response of the upstream to a user of the gateway, who has not brought it back. */
function responseFor(
  browser: BrowserJar,
  login: string,
  server: ConnectableServer = world.files,
): Promise<string> {
  return walkUntilCallback(browser, world.connectUrl(server), { login });
}

/** Signs a user in at the host of a server, without connecting it. */
async function signedIn(login: string, server?: ConnectableServer): Promise<BrowserJar> {
  const browser = new BrowserJar();
  await responseFor(browser, login, server);
  return browser;
}

function changed(callback: string, changes: Readonly<Record<string, string | null>>): string {
  const url = new URL(callback);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
}

function codeIn(callback: string): string {
  return new URL(callback).searchParams.get('code') ?? '';
}

async function expectNobodyConnected(): Promise<void> {
  for (const login of ['alice', 'bob']) {
    expect(await world.isConnected(login, world.files)).toBe(false);
    expect(await world.isConnected(login, world.mail)).toBe(false);
  }
}

describe('The response of an upstream connects nobody', () => {
  test('in the browser of another user', async () => {
    const [alice, bob] = [new BrowserJar(), await signedIn('bob')];
    const callback = await responseFor(alice, 'alice');
    const page = await bob.open(callback);

    expect(page.status).toBe(403);
    expect(page.body).not.toMatch(/alice|bob/);
    // What was seen elsewhere is not good in the right browser either.
    expect((await alice.open(callback)).status).toBe(400);
    await expectNobodyConnected();
  });

  test('in another browser of the same user', async () => {
    const [one, other] = [new BrowserJar(), await signedIn('alice')];
    const page = await other.open(await responseFor(one, 'alice'));

    expect(page.status).toBe(403);
    expect(page.body).toContain('another browser');
    await expectNobodyConnected();
  });

  test('if an attacker has a user authorize what the attacker began', async () => {
    const [attacker, victim] = [await signedIn('bob'), await signedIn('alice')];
    const stopAt = (url: string): boolean => url.includes('/auth?');
    const begun = await attacker.open(world.connectUrl(world.files), { stopAt });
    const page = await walk(victim, begun.headers.location ?? '');

    expect(page.status).toBe(403);
    await expectNobodyConnected();
  });

  test('if an attacker gives a user the response to the attacker', async () => {
    const [attacker, victim] = [new BrowserJar(), await signedIn('alice')];
    const theirs = await responseFor(attacker, 'bob');
    const own = await responseFor(victim, 'alice');
    const page = await victim.open(changed(own, { code: codeIn(theirs) }));

    // PKCE: the code was issued for the verifier of the other attempt.
    expect(page.url).toBe(`${world.app}/back?connect_error=server_error`);
    await expectNobodyConnected();
  });

  test('if the states of two browsers are swapped', async () => {
    const [alice, bob] = [new BrowserJar(), new BrowserJar()];
    const [ofAlice, ofBob] = [await responseFor(alice, 'alice'), await responseFor(bob, 'bob')];

    expect((await alice.open(ofBob)).status).toBe(403);
    expect((await bob.open(ofAlice)).status).toBe(403);
    await expectNobodyConnected();
  });

  test('after another user has signed in with the same browser', async () => {
    const browser = new BrowserJar();
    const callback = await responseFor(browser, 'alice');
    browser.deleteCookies(({ name }) => !name.includes('-connect-'));
    await responseFor(browser, 'bob');
    const page = await browser.open(callback);

    expect(page.status).toBe(403);
    expect(page.body).toContain('Sign out');
    expect(page.body).not.toMatch(/alice|bob/);
    await expectNobodyConnected();
  });

  test('after its user has signed out', async () => {
    const browser = new BrowserJar();
    const callback = await responseFor(browser, 'alice');
    await browser.submit(await browser.open(`${world.files.url}/.gateway/sign_out`));
    const page = await browser.open(callback);

    expect(page.status).toBe(403);
    expect(page.body).toContain('signed out');
    await expectNobodyConnected();
  });

  test('after its user has signed in anew', async () => {
    const browser = new BrowserJar();
    const callback = await responseFor(browser, 'alice');
    browser.deleteCookies(({ name }) => !name.includes('-connect-'));
    await responseFor(browser, 'alice');

    expect((await browser.open(callback)).status).toBe(403);
    await expectNobodyConnected();
  });

  test('without the cookie of the browser that began', async () => {
    const browser = new BrowserJar();
    const callback = await responseFor(browser, 'alice');
    browser.deleteCookies(({ name }) => name.includes('-connect-'));

    expect((await browser.open(callback)).status).toBe(403);
    await expectNobodyConnected();
  });

  test('when it has waited for more than ten minutes', async () => {
    const browser = new BrowserJar();
    const callback = await responseFor(browser, 'alice');
    world.clock.offset = 10 * MINUTE;

    expect((await browser.open(callback)).status).toBe(400);
    await expectNobodyConnected();
  });
});

describe('Two servers', () => {
  test('do not get the code of each other', async () => {
    const { files, mail } = world;
    const browser = new BrowserJar();
    const ofFiles = await responseFor(browser, 'alice', files);
    const ofMail = await responseFor(browser, 'alice', mail);
    // Attack: the server of `files` answers the request that was sent to the one of `mail`.
    const mixedUp = changed(ofMail, {
      code: codeIn(ofFiles),
      iss: files.authorizationServer.issuer,
    });
    const page = await browser.open(mixedUp);

    expect(page.url).toBe(`${world.app}/back?connect_error=server_error`);
    expect(mail.authorizationServer.tokenRequests).toEqual([]);
    await expectNobodyConnected();
  });

  test('do not receive responses at the callback of each other', async () => {
    const browser = await signedIn('alice', world.mail);
    const callback = await responseFor(browser, 'alice', world.files);
    const page = await browser.open(callback.replace(world.files.url, world.mail.url));

    expect(page.status).toBe(400);
    expect(world.files.authorizationServer.tokenRequests).toEqual([]);
    await expectNobodyConnected();
  });

  test('can be connected at the same time, in any order', async () => {
    const { files, mail } = world;
    const browser = new BrowserJar();
    const first = await responseFor(browser, 'alice', files);
    const second = await responseFor(browser, 'alice', mail);
    const third = await responseFor(browser, 'alice', files);

    for (const callback of [third, second, first]) {
      expect((await browser.open(callback)).url).toBe(`${world.app}/back`);
    }
    expect(await world.isConnected('alice', files)).toBe(true);
    expect(await world.isConnected('alice', mail)).toBe(true);
    const left = browser.cookies.filter(({ name }) => name.includes('-connect-'));
    expect(left).toEqual([]);
  });
});

describe('A response that does not come from the server of the attempt', () => {
  test.each([
    ['names another issuer', { iss: 'https://evil.example' }],
    ['names no issuer, although the server always does', { iss: null }],
    ['names another issuer, and an error', { iss: 'https://evil.example', code: null, ...ERROR }],
  ])('is not read if it %s', async (_how, changes) => {
    const browser = new BrowserJar();
    const callback = changed(await responseFor(browser, 'alice'), changes);
    const page = await browser.open(callback);

    expect(page.url).toBe(`${world.app}/back?connect_error=server_error`);
    expect(page.hops.map(({ headers }) => headers.location).join()).not.toContain('evil');
    expect(world.files.authorizationServer.tokenRequests).toEqual([]);
    expect(JSON.stringify(world.users.gateway.logs())).not.toContain('Call this number');
    await expectNobodyConnected();
  });
});

describe('An attempt', () => {
  test('ends with an error if the upstream of the route changes meanwhile', async () => {
    const browser = new BrowserJar();
    const callback = await responseFor(browser, 'alice');
    await world.reconfigure((routes) => {
      routes['files'] = { ...routeOf(routes, 'files'), to: world.mail.mcpServer.origin };
    });

    expect((await browser.open(callback)).url).toBe(
      `${world.app}/back?connect_error=route_changed`,
    );
    expect(world.files.authorizationServer.tokenRequests).toEqual([]);
    await expectNobodyConnected();
  });

  test('ends with an error if the route needs no connection any more', async () => {
    const browser = new BrowserJar();
    const callback = await responseFor(browser, 'alice');
    await world.reconfigure((routes) => {
      routes['files'] = { ...routeOf(routes, 'files'), mcp: { server: {} } };
    });

    expect((await browser.open(callback)).url).toBe(
      `${world.app}/back?connect_error=route_changed`,
    );
    await expectNobodyConnected();
  });

  test('is one of at most a hundred of a user in ten minutes', async () => {
    const browser = new BrowserJar();
    await responseFor(browser, 'alice');
    const stopAt = (url: string): boolean => url.includes('/auth?');
    for (let attempts = 1; attempts < 100; attempts += 1) {
      expect((await browser.open(world.connectUrl(world.files), { stopAt })).status).toBe(303);
    }

    expect((await browser.open(world.connectUrl(world.files), { stopAt })).status).toBe(429);
    const cookies = browser.cookies.filter(({ name }) => name.includes('-connect-'));
    expect(cookies).toHaveLength(12);
  });
});
