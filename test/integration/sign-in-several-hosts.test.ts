import { beforeEach, describe, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import { anOrigin } from '../support/an-origin.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { openForAll } from '../support/open-for-all.ts';
import { signInAt, startSignInWorld, upstreamAnswer } from '../support/sign-in-world.ts';

const CALLBACK = '/.gateway/callback';

const world = openForAll(startSignInWorld);

let authenticate: string;
let one: string;
let two: string;

beforeEach(async () => {
  authenticate = world().originOf('authenticate');
  one = world().originOf('one');
  two = world().originOf('two');
  world().provider.redirectUris.clear();
  await world().serve({ routes: [one, two], authenticateUrl: authenticate });
});

function cookieAt(browser: BrowserJar, origin: string): string | undefined {
  return browser.cookie(new URL(origin).hostname, world().cookieName)?.value;
}

async function sessionAt(browser: BrowserJar, origin: string): Promise<string | undefined> {
  const { browserSessions } = world().gateway.stores;
  return (await browserSessions.get(hashToken(cookieAt(browser, origin) ?? '')))?.sessionId;
}

describe('A sign-in over several hosts', () => {
  test('asks the user once, at one callback, and serves all hosts', async () => {
    const { provider } = world();
    const browser = new BrowserJar();
    const before = provider.authorizationRequests.length;
    const first = await signInAt(browser, `${one}/a?b=c`);
    const second = await browser.open(`${two}/d?e=f`);

    expect(upstreamAnswer(first)).toMatchObject({ user: 'alice', url: `${one}/a?b=c` });
    expect(upstreamAnswer(second)).toMatchObject({ user: 'alice', url: `${two}/d?e=f` });
    const requests = provider.authorizationRequests.slice(before);
    expect(requests.map((request) => request.get('redirect_uri'))).toEqual([
      authenticate + CALLBACK,
    ]);
    const passedThrough = second.hops.map(({ url }) => url.replace(/=[\w-]+$/, '='));
    expect(passedThrough).toEqual([
      `${two}/d?e=`,
      `${authenticate}/.gateway/sign_in?request=`,
      `${two}${CALLBACK}?sign_in_code=`,
      `${two}/d?e=`,
    ]);
  });

  test('gives each host a cookie of its own, which is not valid on the others', async () => {
    const browser = new BrowserJar();
    await signInAt(browser, one);
    await browser.open(two);
    const values = [authenticate, one, two].map((origin) => cookieAt(browser, origin));
    expect(new Set(values).size).toBe(3);
    expect(values).not.toContain(undefined);

    const thief = new BrowserJar();
    thief.setCookie(two, `${world().cookieName}=${cookieAt(browser, one) ?? ''}`);
    const { issuer } = world().provider;
    const page = await thief.open(two, { stopAt: (url) => url.startsWith(issuer) });
    expect(page.status).toBe(303);
  });

  test('leaves no cookie of the sign-in behind', async () => {
    const browser = new BrowserJar();
    await signInAt(browser, one);
    const names = browser.cookies
      .map(({ name }) => name)
      .filter((name) => name.includes('gatehouse'));

    expect(names).toEqual(Array(2).fill(world().cookieName));
  });

  test('makes one session that all hosts share', async () => {
    const browser = new BrowserJar();
    await signInAt(browser, one);
    await browser.open(two);

    const id = await sessionAt(browser, one);
    expect(id).toBeDefined();
    expect(await sessionAt(browser, two)).toBe(id);
  });

  test('works in several tabs on several hosts at the same time', async () => {
    const browser = new BrowserJar();
    const targets = [`${one}/1`, `${two}/2`, `${one}/3`, `${two}/4`];
    const tabs = await Promise.all(targets.map((url) => browser.open(url)));
    const urls: string[] = [];
    for (const tab of tabs) {
      urls.push(upstreamAnswer(await browser.submit(tab, { login: 'bob' })).url);
    }

    expect(urls).toEqual(targets);
  });

  test('leads back to a page of the authenticate host itself, with its query', async () => {
    const { pendingAuthorizations } = world().gateway.stores;
    const resource = `${one}/mcp`;
    await pendingAuthorizations.save(
      'the-request',
      {
        ...{
          issuer: anOrigin(one),
          clientId: 'unknown',
          redirectUri: 'https://client.example/callback',
        },
        ...{ resource, scopes: [], codeChallenge: 'x'.repeat(43), askAgain: false },
      },
      60,
    );
    const url = `${authenticate}/.gateway/mcp/consent?request=the-request`;
    const page = await signInAt(new BrowserJar(), url);

    expect(page.url).toBe(url);
    // By then the consent page knows the user, and looks for the client.
    expect(page.body).toContain('The application is not known here.');
  });

  test('never leaves the host for a page that was requested in an odd spelling', async () => {
    const browser = new BrowserJar();
    const page = await signInAt(browser, `${one}//attacker.example/x`);

    expect(page.url).toBe(`${one}/`);
    expect(upstreamAnswer(page).url).toBe(`${one}/`);
    expect(page.hops.map(({ url }) => new URL(url).hostname)).not.toContain('attacker.example');
  });

  test('leads to the start page if the address of the requested page is too long', async () => {
    const page = await signInAt(new BrowserJar(), `${one}/search?q=${'a'.repeat(12_000)}`);
    expect(upstreamAnswer(page).url).toBe(`${one}/`);
  });

  test('works with SameSite=Strict, where a redirect would carry no cookie', async () => {
    const settings = { routes: [one, two], authenticateUrl: authenticate };
    await world().serve({ ...settings, sameSite: 'Strict' });
    const browser = new BrowserJar();
    const page = await signInAt(browser, `${one}/a?b=c`);

    expect(upstreamAnswer(page)).toMatchObject({ user: 'alice', url: `${one}/a?b=c` });
    expect(browser.cookies.find(({ host }) => host === 'one.localhost')?.sameSite).toBe('strict');
  });
});
