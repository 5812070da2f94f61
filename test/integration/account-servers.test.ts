import { beforeEach, describe, expect, test } from '@jest/globals';

import { formOf } from '../support/account-world.ts';
import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { startConnectWorld, walk, type ConnectableServer } from '../support/connect-world.ts';
import { send, type Answer } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { signInAt } from '../support/sign-in-world.ts';
import { callMcp } from '../support/signed-in-client.ts';

const world = openForAll(() => startConnectWorld({ hasAuthenticateHost: true }));

let browser: BrowserJar;

beforeEach(() => {
  browser = new BrowserJar();
});

function accountUrl(): string {
  return `${world().users.originOf('auth')}/.gateway/`;
}

function openAccount(of = browser, login = 'alice'): Promise<BrowserPage> {
  return signInAt(of, `${accountUrl()}sign_in`, login);
}

/** The state of a server, as the page shows it. */
function stateOf({ body }: BrowserPage, { url }: ConnectableServer): string | undefined {
  const item = body.slice(body.indexOf(`<code>${url}</code>`));
  return /<dt>State<\/dt>\s*<dd>([^<]*)</.exec(item)?.[1];
}

/** Presses Connect, and goes on to the last page. */
async function connect(
  page: BrowserPage,
  { url }: ConnectableServer,
  answers: { readonly login?: string; readonly upstreamLogin?: string } = {},
): Promise<BrowserPage> {
  const isConnect = (next: string): boolean => next.startsWith(`${url}/.gateway/mcp/connect?`);
  const sent = await browser.submit(formOf(page, 'connect', url), {}, { stopAt: isConnect });
  const { location = '' } = sent.headers;
  expect(isConnect(location)).toBe(true);
  return walk(browser, location, answers);
}

describe('The MCP servers on the account page', () => {
  test('are those that the user may use, with their states and the right buttons', async () => {
    const { files, mail } = world();
    const [carol, page] = ['carol', await openAccount(browser, 'carol')];
    expect(page.body).toContain('carol@example.com');
    for (const server of [files, mail]) expect(stateOf(page, server)).toBe('Needs connecting');

    const connected = await connect(page, files, { login: carol });
    expect(connected.url).toBe(accountUrl());
    expect(stateOf(connected, files)).toBe('Connected');
    expect(stateOf(connected, mail)).toBe('Needs connecting');
    expect(() => formOf(connected, 'connect', files.url)).toThrow('0 forms');
    expect(formOf(connected, 'disconnect').forms).toHaveLength(1);
    expect(await world().isConnected(carol, files)).toBe(true);
  });

  test('say that a server needs no connection, and leave out what a policy denies', async () => {
    const { backend, users } = world();
    const open = users.originOf('open');
    const denied = users.originOf('denied');
    await world().reconfigure((routes) => {
      const route = { to: backend.origin, mcp: { server: {} } };
      routes['open'] = { ...route, from: open, allowAnyAuthenticatedUser: true };
      const ofBob = { allow: { and: [{ user: { is: 'bob' } }] } };
      routes['denied'] = { ...route, from: denied, policy: ofBob };
    });
    const page = await openAccount();
    const item = page.body.slice(page.body.indexOf(`<code>${open}</code>`));
    expect(item).toMatch(/^[^]*?<dd>No connection needed<\/dd>/);
    expect(page.body).not.toContain(denied);
    expect((await openAccount(new BrowserJar(), 'bob')).body).toContain(denied);
  });

  test('say why connecting did not work', async () => {
    const page = await connect(await openAccount(), world().mail, { upstreamLogin: '' });
    expect(page.url).toBe(`${accountUrl()}?connect_error=access_denied`);
    expect(page.body).toContain('said no, so nothing was connected');
    expect(stateOf(page, world().mail)).toBe('Needs connecting');
    const forged = await browser.open(`${accountUrl()}?connect_error=<b>toString`);
    expect(forged.body).not.toContain('role="alert"');
  });
});

describe('Connect and Disconnect on the account page', () => {
  test('end where they began, and the audit log says so', async () => {
    const { files } = world();
    const connected = await connect(await openAccount(), files);
    expect(await world().isConnected('alice', files)).toBe(true);

    const after = await browser.submit(formOf(connected, 'disconnect'));
    expect(after.url).toBe(accountUrl());
    expect(stateOf(after, files)).toBe('Needs connecting');
    expect(await world().isConnected('alice', files)).toBe(false);
    expect(world().lastAuditEvent()).toMatchObject({ event: 'connection-ended', user: 'alice' });
  });

  test('are only for the user of the form', async () => {
    const { files } = world();
    const ofAlice = formOf(await connect(await openAccount(), files), 'disconnect');
    const bob = new BrowserJar();
    const ofBob = await openAccount(bob, 'bob');
    const tokenOfBob = formOf(ofBob, 'connect', files.url).forms[0]?.fields['token'] ?? '';
    for (const token of ['', tokenOfBob]) {
      expect((await browser.submit(ofAlice, { token })).status).toBe(403);
    }
    // Bob has no such connection.
    const inBob = { ...ofBob, forms: ofAlice.forms };
    expect((await bob.submit(inBob, { token: tokenOfBob })).status).toBe(200);
    expect(await world().isConnected('alice', files)).toBe(true);
    await browser.submit(ofAlice);
  });

  test('refuse what is no server of this user', async () => {
    const form = formOf(await openAccount(), 'connect', world().mail.url);
    for (const server of ['', world().app, 'https://elsewhere.example/']) {
      expect((await browser.submit(form, { server })).status).toBe(404);
    }
  });

  test('a connection to a server that is gone can still be ended', async () => {
    const { mail } = world();
    await connect(await openAccount(), mail);
    let before: unknown;
    await world().reconfigure((routes) => {
      before = routes['mail'];
      delete routes['mail'];
    });
    const page = await openAccount();
    expect(page.body).toContain('the server was removed or changed');
    expect(await world().isConnected('alice', mail)).toBe(true);
    const after = await browser.submit(formOf(page, 'disconnect'));
    expect(after.body).not.toContain('the server was removed or changed');
    expect(await world().isConnected('alice', mail)).toBe(false);
    await world().reconfigure((routes) => {
      routes['mail'] = before as (typeof routes)[string];
    });
    expect(stateOf(await openAccount(), mail)).toBe('Needs connecting');
  });
});

test('connecting ends on the account page although the session cookie is strict', async () => {
  await using strict = await startConnectWorld({
    hasAuthenticateHost: true,
    settings: { cookie: { sameSite: 'Strict' } },
  });
  const origin = strict.users.originOf('auth');
  const page = await signInAt(browser, `${origin}/.gateway/sign_in`);
  const form = formOf(page, 'connect', strict.files.url);
  const stopAt = (next: string): boolean => next.includes('/.gateway/mcp/connect');
  const { headers } = await browser.submit(form, {}, { stopAt });
  const connected = await walk(browser, headers.location ?? '');
  expect(connected.body).toContain('alice@example.com');
  expect(stateOf(connected, strict.files)).toBe('Connected');
});

test('a sign-out everywhere ends the token that an application got for the user', async () => {
  const { app, backend, files } = world();
  await walk(browser, app);
  const { authorization = '' } = backend.requests.at(-1)?.message.headers ?? {};
  const token = authorization.replace('Bearer ', '');
  expect(token).not.toBe('');
  const list = (): Promise<Answer> =>
    send(`${app}/.gateway/mcp/routes`, { headers: { authorization: `Bearer ${token}` } });
  expect((await list()).status).toBe(200);
  await connect(await openAccount(), files);

  await browser.submit(formOf(await openAccount(), 'sign-out-everywhere'));
  expect((await list()).status).toBe(401);
  expect((await callMcp(files.url, token, { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(
    401,
  );
});
