import { beforeEach, describe, expect, test } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, send } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { signInAt, startSignInWorld } from '../support/sign-in-world.ts';

const world = openForAll(startSignInWorld);

let authenticate: string;
let app: string;

beforeEach(async () => {
  authenticate = world().originOf('authenticate');
  app = world().originOf('app');
  await world().serve({ routes: [app], authenticateUrl: authenticate });
});

describe('The account page of the authenticate host', () => {
  test('is where a sign-in leads that was started there, and names the user', async () => {
    const page = await signInAt(new BrowserJar(), `${authenticate}/.gateway/sign_in`);

    expect(page.url).toBe(`${authenticate}/.gateway/`);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('You are signed in as <strong>alice@example.com</strong>');
  });

  test('has a button that signs out, and the user can sign in again', async () => {
    const browser = new BrowserJar();
    const account = await signInAt(browser, `${authenticate}/.gateway/sign_in`);
    const signedOut = await browser.submit(account);
    expect(signedOut.status).toBe(200);
    expect(signedOut.body).toContain('Signed out');
    expect(signedOut.body).toContain('href="/.gateway/sign_in"');
    expect((await browser.open(`${authenticate}/.gateway/`)).body).toContain('not signed in');

    const atProvider = await browser.follow(signedOut, '/.gateway/sign_in');
    const page = atProvider.url.startsWith(authenticate)
      ? atProvider
      : await browser.submit(atProvider, { login: 'alice' });
    expect(page.url).toBe(`${authenticate}/.gateway/`);
    expect(page.body).toContain('alice@example.com');
  });

  test('ignores a sign-out form that another page made', async () => {
    const browser = new BrowserJar();
    const account = await signInAt(browser, `${authenticate}/.gateway/sign_in`);

    expect((await browser.submit(account, { token: 'guessed' })).status).toBe(403);
    expect((await browser.open(account.url)).body).toContain('alice@example.com');
  });

  test('offers to sign in to a browser that is not signed in', async () => {
    const page = await new BrowserJar().open(`${authenticate}/.gateway/`);

    expect(page.status).toBe(200);
    expect(page.body).toContain('You are not signed in');
    expect(page.body).toContain('href="/.gateway/sign_in"');
    expect(page.forms).toHaveLength(0);
  });

  test('is the target of redirects from the account path of route hosts', async () => {
    const browser = new BrowserJar();
    await signInAt(browser, app);
    const page = await browser.open(`${app}/.gateway/`);

    expect(page.url).toBe(`${authenticate}/.gateway/`);
    expect(page.body).toContain('alice@example.com');
  });

  test('cannot be framed, cached or scripted', async () => {
    const { headers } = await signInAt(new BrowserJar(), `${authenticate}/.gateway/sign_in`);

    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['cache-control']).toBe('no-store');
  });
});

test('a route host without an authenticate URL has an account page of its own', async () => {
  await world().serve({ routes: [app] });
  const browser = new BrowserJar();
  await signInAt(browser, app);
  const page = await browser.open(`${app}/.gateway/`);

  expect(page.url).toBe(`${app}/.gateway/`);
  expect(page.body).toContain('alice@example.com');
});

test('A sign-in that was started at a host of MCP routes only ends on the account page', async () => {
  await using mcpWorld = await startGatewayWithUsers();
  const origin = mcpWorld.originOf('mcp');
  const to = 'http://127.0.0.1:1';
  const route = { from: origin, to, mcp: { server: {} }, allowAnyAuthenticatedUser: true };
  for (const place of [{}, { prefix: '/files' }]) {
    await mcpWorld.configure({ mcp: { ...route, ...place } });
    const page = await signInAt(new BrowserJar(), `${origin}/.gateway/sign_in`);

    expect(page).toMatchObject({ status: 200, url: `${origin}/.gateway/` });
    expect(page.body).toContain('alice@example.com');
  }
});

describe('A path under /.gateway/ that does not exist', () => {
  test.each(['app', 'authenticate'])('is a page for a browser, at the host %s', async (name) => {
    const page = await new BrowserJar().open(`${world().originOf(name)}/.gateway/nothing`);

    expect(page.status).toBe(404);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('There is nothing here.');
    expect(page.body).toContain(String(page.headers['x-request-id']));
  });

  test('is JSON for a program', async () => {
    const answer = await send(`${authenticate}/.gateway/nothing`);

    expect(answer.status).toBe(404);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(membersOf(answer)).toMatchObject({ error: 'route-not-found' });
  });
});
