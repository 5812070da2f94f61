import { beforeEach, describe, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { send } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { signInAt, startSignInWorld, upstreamAnswer } from '../support/sign-in-world.ts';

const world = openForAll(startSignInWorld);

let authenticate: string;
let one: string;
let two: string;
/** A browser that is signed in at both hosts. */
let browser: BrowserJar;

beforeEach(async () => {
  authenticate = world().originOf('authenticate');
  one = world().originOf('one');
  two = world().originOf('two');
  await world().serve({ routes: [one, two], authenticateUrl: authenticate });
  browser = new BrowserJar();
  await signInAt(browser, one);
  await browser.open(two);
});

async function isSignedInAt(origin: string): Promise<boolean> {
  return (await browser.open(origin, { stopAt: () => true })).status === 200;
}

async function sessionId(): Promise<string> {
  const cookie = browser.cookie('one.localhost', world().cookieName)?.value ?? '';
  const { browserSessions } = world().gateway.stores;
  return (await browserSessions.get(hashToken(cookie)))?.sessionId ?? 'none';
}

describe('Sign-out', () => {
  test('asks first, then ends the session in the browser on every host at once', async () => {
    const question = await browser.open(`${one}/.gateway/sign_out`);
    expect(question.status).toBe(200);
    expect(question.body).toContain('alice@example.com');
    expect(await isSignedInAt(one)).toBe(true);
    const page = await browser.submit(question);

    expect(page.status).toBe(200);
    expect(page.body).toContain('Signed out');
    expect(browser.cookie('one.localhost', world().cookieName)).toBeUndefined();
    expect(await isSignedInAt(one)).toBe(false);
    expect(await isSignedInAt(two)).toBe(false);
    const account = await browser.open(`${authenticate}/.gateway/`);
    expect(account.body).toContain('You are not signed in');
  });

  test('leaves the session to the MCP clients that were connected with it', async () => {
    const { revocations, sessions } = world().gateway.stores;
    const id = await sessionId();
    const heard: unknown[] = [];
    using stack = new DisposableStack();
    stack.defer(revocations.subscribe((revocation) => heard.push(revocation)));
    await browser.submit(await browser.open(`${one}/.gateway/sign_out`));

    expect(heard).toEqual([{ kind: 'browser', sessionId: id }]);
    expect(await sessions.get(id)).toMatchObject({ id });
  });

  test('ignores a form that another page made (CSRF)', async () => {
    const question = await browser.open(`${one}/.gateway/sign_out`);
    const page = await browser.submit(question, { token: 'guessed' });

    expect(page.status).toBe(403);
    expect(await isSignedInAt(one)).toBe(true);
  });

  test('ignores the form of another user', async () => {
    const other = new BrowserJar();
    await signInAt(other, one, 'bob');
    const theirs = await other.open(`${one}/.gateway/sign_out`);
    const page = await browser.submit(theirs);

    expect(page.status).toBe(403);
    expect(await isSignedInAt(one)).toBe(true);
  });

  test.each(['null', 'https://attacker.example', ''])(
    'ignores a form with the origin %p',
    async (origin) => {
      const question = await browser.open(`${one}/.gateway/sign_out`);
      const page = await browser.submit(question, {}, { headers: { origin } });

      expect(page.status).toBe(403);
      expect(await isSignedInAt(one)).toBe(true);
    },
  );

  test.each([
    { origin: 'https://attacker.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('removes no cookie for a form of another site, sent with %j (CSRF)', async (headers) => {
    // A browser sends no Lax cookie with it, and would still accept the one that removes it.
    const answer = await send(`${one}/.gateway/sign_out`, { method: 'POST', headers });

    expect(answer.status).toBe(403);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('ignores its own form when a sibling domain sends it', async () => {
    const question = await browser.open(`${one}/.gateway/sign_out`);
    const headers = { 'sec-fetch-site': 'same-site' };
    const page = await browser.submit(question, {}, { headers });

    expect(page.status).toBe(403);
    expect(await isSignedInAt(one)).toBe(true);
  });

  test.each([
    ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a frame', { 'sec-fetch-dest': 'iframe' }],
  ])('does not show its form to %s of the same origin', async (_who, headers) => {
    for (const path of ['/.gateway/sign_out', '/.gateway/']) {
      const page = await browser.open(`${one}${path}`, { headers, stopAt: () => true });
      expect(page.status).toBe(403);
      expect(page.forms).toEqual([]);
    }
  });

  test.each([
    ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a page without a click', { 'sec-fetch-user': '?0' }],
  ])('ignores its own form from %s of the same origin', async (_who, headers) => {
    const question = await browser.open(`${one}/.gateway/sign_out`);
    const page = await browser.submit(question, {}, { headers });

    expect(page.status).toBe(403);
    expect(await isSignedInAt(one)).toBe(true);
  });

  test.each(['GET', 'POST'])(
    'removes no cookie that was not sent, by %s (CSRF)',
    async (method) => {
      const answer = await send(`${one}/.gateway/sign_out`, { method });

      expect(answer.status).toBe(200);
      expect(answer.headers['set-cookie']).toBeUndefined();
    },
  );

  test('removes an invalid cookie', async () => {
    browser.setCookie(one, `${world().cookieName}=stale`);
    const page = await browser.open(`${one}/.gateway/sign_out`);

    expect(page.body).toContain('Signed out');
    expect(browser.cookie('one.localhost', world().cookieName)).toBeUndefined();
  });

  test('cannot be framed', async () => {
    const { headers } = await browser.open(`${one}/.gateway/sign_out`);
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  test('shows a page without a form to a browser that is not signed in', async () => {
    const page = await new BrowserJar().open(`${one}/.gateway/sign_out`);

    expect(page.status).toBe(200);
    expect(page.forms).toHaveLength(0);
  });

  test('lets the user sign in again', async () => {
    const signedOut = await browser.submit(await browser.open(`${one}/.gateway/sign_out`));
    browser.deleteCookies(({ host }) => host === '127.0.0.1');
    const page = await browser.follow(signedOut, '/.gateway/sign_in');

    expect(upstreamAnswer(await browser.submit(page, { login: 'bob' })).user).toBe('bob');
  });
});
