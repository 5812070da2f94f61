import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { SignInFailedError } from '../../proxy/errors/request-errors.ts';
import { jwksDocument } from '../../proxy/identity/assertion/signing-keys.ts';
import type { SingleUseStore } from '../../proxy/store/single-use-store.ts';
import { describeError } from '../../shared/telemetry/describe-error.ts';
import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { send } from '../support/http-client.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts';
import {
  startSignInHarness,
  type RouteAnswer,
  type SignInHarness,
} from '../support/sign-in-harness.ts';
import { verifies } from '../requirements/verifies.ts';
import { anOrigin } from '../support/an-origin.ts';

const CALLBACK = '/.gateway/callback';
const SECOND = 1000;
const MINUTE = 60 * SECOND;

let provider: TestIdentityProvider;
let gateway: SignInHarness;

beforeAll(async () => {
  provider = await startIdentityProvider();
  gateway = await startSignInHarness();
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

beforeEach(() => {
  provider.answers.clear();
});

/** Signs in with the form of the identity provider, where there is one. */
async function signIn(browser: BrowserJar, url: string, login = 'alice'): Promise<BrowserPage> {
  const page = await browser.open(url);
  return page.forms.length === 0 ? page : browser.submit(page, { login });
}

/** As far as a URL, which is not asked for: a link to it is what an attacker could send. */
async function signInUntil(browser: BrowserJar, url: string, isLast: RegExp): Promise<string> {
  const stopAt = (next: string): boolean => isLast.test(next);
  const page = await browser.open(url, { stopAt });
  const last =
    page.forms.length === 0 ? page : await browser.submit(page, { login: 'alice' }, { stopAt });
  return new URL(last.headers.location ?? '', last.url).href;
}

function answerOf(page: BrowserPage): RouteAnswer {
  expect({ status: page.status, url: page.url, body: page.body }).toMatchObject({ status: 200 });
  // The harness's own answer.
  return JSON.parse(page.body) as RouteAnswer;
}

function requestIdOf(page: BrowserPage): string {
  return /Request ID: <code>([\w-]+)<\/code>/.exec(page.body)?.[1] ?? 'none';
}

function lastReason(): string | undefined {
  const failure = gateway.failures.at(-1);
  return failure instanceof SignInFailedError ? failure.reason : undefined;
}

function expectRefused(page: BrowserPage, reason: string): void {
  expect(page.status).toBe(400);
  expect(lastReason()).toBe(reason);
  expect(page.body).toContain('Try again');
}

describe('sign-in on one host', () => {
  let app: string;

  beforeEach(() => {
    app = gateway.originOf('app');
    provider.redirectUris.add(app + CALLBACK);
    gateway.configure({ routes: [app], identityProvider: provider.compiled() });
  });

  test('leads back to the page that was asked for, with its query', async () => {
    const page = await signIn(new BrowserJar(), `${app}/reports/7?sort=a%20b&q=%2F%2Fx&empty=`);

    expect(answerOf(page)).toEqual({
      user: 'alice',
      email: 'alice@example.com',
      groups: ['engineering'],
      url: `${app}/reports/7?sort=a%20b&q=%2F%2Fx&empty=`,
    });
  });

  test('asks the provider with PKCE, state and nonce, fresh ones each time', async () => {
    const before = provider.authorizationRequests.length;
    await signIn(new BrowserJar(), app);
    await signIn(new BrowserJar(), app);

    const requests = provider.authorizationRequests.slice(before);
    expect(requests).toHaveLength(2);
    for (const request of requests) {
      expect(Object.fromEntries(request)).toMatchObject({
        response_type: 'code',
        redirect_uri: app + CALLBACK,
        scope: 'openid email profile groups',
        code_challenge_method: 'S256',
      });
    }
    for (const secret of ['state', 'nonce', 'code_challenge']) {
      const values = requests.map((request) => request.get(secret));
      expect(values).toEqual([expect.stringMatching(/^[\w-]{43}$/), expect.anything()]);
      expect(values[0]).not.toBe(values[1]);
    }
  });

  test('cannot be talked out of PKCE by configured parameters', async () => {
    const authorizationParams = { code_challenge_method: 'plain', state: 'x', prompt: 'login' };
    const identityProvider = { ...provider.compiled(), authorizationParams };
    gateway.configure({ routes: [app], identityProvider });

    await signIn(new BrowserJar(), app);

    const request = provider.authorizationRequests.at(-1);
    expect(request?.get('prompt')).toBe('login');
    expect(request?.get('code_challenge_method')).toBe('S256');
    expect(request?.getAll('state')).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  });

  test('leaves one cookie, for as long as the session lives', async () => {
    gateway.configure({
      routes: [app],
      identityProvider: provider.compiled(),
      sessionSeconds: 3600,
    });
    const browser = new BrowserJar();
    await signIn(browser, app);

    const cookies = browser.cookies.filter(({ host }) => host === 'app.localhost');
    expect(cookies).toHaveLength(1);
    expect(cookies[0]?.name).toBe(`gatehouse-${String(gateway.port)}`);
    expect(cookies[0]?.text).toMatch(/; Max-Age=3(?:600|59\d); Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('ends when the session does', async () => {
    gateway.configure({
      routes: [app],
      identityProvider: provider.compiled(),
      sessionSeconds: 60,
    });
    const browser = new BrowserJar();
    await signIn(browser, app);
    const isAtProvider = (url: string): boolean => url.startsWith(provider.issuer);
    const before = await browser.open(app, { stopAt: isAtProvider });
    gateway.advance(61 * SECOND);
    const after = await browser.open(app, { stopAt: isAtProvider });

    expect([before.status, after.status]).toEqual([200, 303]);
  });

  test('gives a fresh cookie each time', async () => {
    const browser = new BrowserJar();
    await signIn(browser, app);
    const first = browser.cookie('app.localhost', `gatehouse-${String(gateway.port)}`);
    browser.deleteCookies(({ host }) => host === 'app.localhost');
    await signIn(browser, app);
    const second = browser.cookie('app.localhost', `gatehouse-${String(gateway.port)}`);

    expect(second?.value).toMatch(/^[\w-]{43}$/);
    expect(second?.value).not.toBe(first?.value);
  });

  verifies('as.session-cookie', 'over TLS uses a __Host- cookie that is Secure', async () => {
    const secureApp = 'https://app.example.test';
    const isHostCookie = /^__Host-.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/;
    provider.redirectUris.add(secureApp + CALLBACK);
    gateway.configure({ routes: [secureApp], identityProvider: provider.compiled() });
    const browser = new BrowserJar({ tlsPort: gateway.port });
    const page = await signIn(browser, `${secureApp}/x`);

    expect(answerOf(page).url).toBe(`${secureApp}/x`);
    const cookies = browser.cookies.filter(({ host }) => host === 'app.example.test');
    expect(cookies.map(({ name }) => name)).toEqual(['__Host-gatehouse']);
    expect(cookies[0]?.text).toMatch(
      /^__Host-gatehouse=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(cookies[0]?.text).not.toContain('Domain');
    for (const { url, headers } of page.hops.filter((hop) => hop.url.startsWith(secureApp))) {
      const texts = headers['set-cookie'] ?? [];
      expect({ url, texts: texts.filter((text) => !isHostCookie.test(text)) }).toEqual({
        url,
        texts: [],
      });
    }
  });

  test('signs in a host of a wildcard route under the name that was asked for', async () => {
    const [wildcard, tenant] = [gateway.originOf('*'), gateway.originOf('tenant-7')];
    provider.redirectUris.add(tenant + CALLBACK);
    gateway.configure({ routes: [wildcard], identityProvider: provider.compiled() });

    expect(answerOf(await signIn(new BrowserJar(), `${tenant}/a`)).url).toBe(`${tenant}/a`);
  });

  test('sets no session cookie on plain http, but for loopback', async () => {
    const insecure = `http://app.example.test:${String(gateway.port)}`;
    provider.redirectUris.add(insecure + CALLBACK);
    gateway.configure({ routes: [insecure], identityProvider: provider.compiled() });

    expectRefused(await new BrowserJar().open(insecure), 'unknown-target');
  });

  test('works in several tabs at the same time', async () => {
    const browser = new BrowserJar();
    const tabs = await Promise.all(['/1', '/2', '/3'].map((path) => browser.open(app + path)));
    const urls: string[] = [];
    for (const tab of tabs) urls.push(answerOf(await browser.submit(tab, { login: 'bob' })).url);

    expect(urls).toEqual([`${app}/1`, `${app}/2`, `${app}/3`]);
  });

  test('does not pile up cookies of sign-ins that were never finished', async () => {
    const browser = new BrowserJar();
    for (let attempt = 0; attempt < 20; attempt += 1) await browser.open(app);

    const names = browser.cookies.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('gatehouse-login-')).length).toBeLessThan(30);
    expect(answerOf(await signIn(browser, app)).user).toBe('alice');
  });

  test('begun for its own sake leads to the start page', async () => {
    const page = await signIn(new BrowserJar(), `${app}/.gateway/sign_in`);
    expect(answerOf(page).url).toBe(`${app}/`);
  });

  test('drops an address that the provider calls unverified', async () => {
    const eve = { email: 'ceo@example.com', email_verified: false, groups: 'visitors' };
    provider.users.set('eve', eve);
    const page = await signIn(new BrowserJar(), app, 'eve');

    expect(answerOf(page)).toMatchObject({ user: 'eve', email: null, groups: ['visitors'] });
  });

  test('refuses a state that was used before', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, app, /callback\?.*state=/);
    const copy = browser.clone();
    await browser.open(url);

    expectRefused(await copy.open(url), 'unknown-state');
  });

  test('refuses a state that was never given out', async () => {
    const page = await new BrowserJar().open(`${app}${CALLBACK}?state=made-up&code=x`);
    expectRefused(page, 'unknown-state');
  });

  test('refuses the answer to a sign-in of another browser (login CSRF)', async () => {
    const attacker = new BrowserJar();
    const victim = new BrowserJar();
    await victim.open(app);
    const url = await signInUntil(attacker, app, /callback\?.*state=/);
    const page = await victim.open(url);

    expectRefused(page, 'other-browser');
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(attacker.cookies.length).toBeGreaterThan(0);
  });

  test('refuses the answer without the cookie that the sign-in began with', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, app, /callback\?.*state=/);

    expectRefused(await new BrowserJar().open(url), 'other-browser');
  });

  test.each([
    ['no parameter at all', ''],
    ['an empty state', '?state='],
    ['two states', '?state=a&state=b'],
    ['state and code of both kinds', '?state=a&sign_in_code=b'],
  ])('refuses an answer with %s', async (_case, query) => {
    const page = await new BrowserJar().open(app + CALLBACK + query);
    expect(page.status).toBe(400);
  });

  test('refuses an answer that names another issuer (mix-up)', async () => {
    const browser = new BrowserJar();
    const url = new URL(await signInUntil(browser, app, /callback\?.*state=/));
    expect(url.searchParams.get('iss')).toBe(provider.issuer);
    url.searchParams.set('iss', 'https://attacker.example');
    const page = await browser.open(url.href);

    expect(page.status).toBe(502);
    expect(browser.cookie('app.localhost', `gatehouse-${String(gateway.port)}`)).toBeUndefined();
  });

  test('refuses a code that the provider did not issue for this sign-in', async () => {
    const [attacker, victim] = [new BrowserJar(), new BrowserJar()];
    const stolen = new URL(await signInUntil(attacker, app, /callback\?.*state=/));
    const url = new URL(await signInUntil(victim, app, /callback\?.*state=/));
    url.searchParams.set('code', stolen.searchParams.get('code') ?? '');

    expectRefused(await victim.open(url.href), 'invalid-grant');
  });

  test('tells a user whom the provider does not let in', async () => {
    const browser = new BrowserJar();
    const page = await browser.submit(await browser.open(app), { login: '' });

    expect(page.status).toBe(403);
    expect(page.body).toContain('did not let you in');
    expect(lastReason()).toBe('access-denied');
  });
});

describe('the secrets of a sign-in', () => {
  test.each([
    ['nonce', 502],
    ['codeVerifier', 400],
  ] as const)('the provider’s answer counts with its own %s only', async (member, status) => {
    await using tampered = await startSignInHarness({
      wrapStores: (stores) => ({
        ...stores,
        pendingSignIns: {
          save: (key, value, ttl) =>
            stores.pendingSignIns.save(key, { ...value, [member]: 'x'.repeat(43) }, ttl),
          peek: (key) => stores.pendingSignIns.peek(key),
          consume: (key) => stores.pendingSignIns.consume(key),
        },
      }),
    });
    const app = tampered.originOf('app');
    provider.redirectUris.add(app + CALLBACK);
    tampered.configure({ routes: [app], identityProvider: provider.compiled() });
    const page = await signIn(new BrowserJar(), app);

    expect(page.status).toBe(status);
  });
});

describe('one sealed request that is replayed (eviction of sign-ins under way)', () => {
  const REQUESTS_PER_MINUTE = 1000;

  interface Replayed extends AsyncDisposable {
    readonly harness: SignInHarness;
    readonly app: string;
    /** What was stored so far. */
    readonly saved: { pendingSignIns: number; signInCodes: number };
  }

  async function startReplayed(): Promise<Replayed> {
    const saved = { pendingSignIns: 0, signInCodes: 0 };
    const harness = await startSignInHarness({
      wrapStores: (stores) => ({
        ...stores,
        pendingSignIns: counted(stores.pendingSignIns, () => (saved.pendingSignIns += 1)),
        signInCodes: counted(stores.signInCodes, () => (saved.signInCodes += 1)),
      }),
    });
    const [app, authenticateOrigin] = [harness.originOf('app'), harness.originOf('authenticate')];
    provider.redirectUris.add(authenticateOrigin + CALLBACK);
    const identityProvider = provider.compiled();
    harness.configure({ routes: [app], authenticateOrigin, identityProvider });
    return {
      ...{ harness, app, saved },
      [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
    };
  }

  function counted<Value>(store: SingleUseStore<Value>, count: () => void): SingleUseStore<Value> {
    return {
      save(key, value, ttlSeconds) {
        count();
        return store.save(key, value, ttlSeconds);
      },
      peek: (key) => store.peek(key),
      consume: (key) => store.consume(key),
    };
  }

  async function replay(url: string, cookie?: string): Promise<readonly number[]> {
    const statuses: number[] = [];
    for (let request = 0; request < REQUESTS_PER_MINUTE; request += 1) {
      const answer = await send(url, cookie === undefined ? {} : { headers: { cookie } });
      statuses.push(answer.status);
    }
    return statuses;
  }

  test('stores no more sign-ins than one network may begin, and ends nobody else’s', async () => {
    await using replayed = await startReplayed();
    const { harness, app, saved } = replayed;
    const victim = new BrowserJar();
    const atProvider = await victim.open(`${app}/a`);
    const url = await signInUntil(new BrowserJar(), app, /sign_in\?request=/);
    const statuses = await replay(url);
    const refused = await send(url);

    expect(statuses.at(0)).toBe(303);
    expect(saved).toEqual({ pendingSignIns: REQUESTS_PER_MINUTE, signInCodes: 0 });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect(answerOf(await victim.submit(atProvider, { login: 'alice' })).url).toBe(`${app}/a`);
    harness.advance(MINUTE);
    expect((await send(url)).status).toBe(303);
  });

  test('stores no more codes than one network may ask for, with a session', async () => {
    await using replayed = await startReplayed();
    const { harness, app, saved } = replayed;
    const browser = new BrowserJar();
    await signIn(browser, app);
    harness.advance(MINUTE);
    const url = await signInUntil(new BrowserJar(), app, /sign_in\?request=/);
    const name = `gatehouse-${String(harness.port)}`;
    const session = browser.cookie('authenticate.localhost', name)?.value ?? 'none';
    const before = saved.signInCodes;
    await replay(url, `${name}=${session}`);

    expect((await send(url, { headers: { cookie: `${name}=${session}` } })).status).toBe(429);
    expect(saved.signInCodes - before).toBe(REQUESTS_PER_MINUTE);
  });

  test('counts only requests that were sealed here', async () => {
    await using replayed = await startReplayed();
    const { app } = replayed;
    const url = await signInUntil(new BrowserJar(), app, /sign_in\?request=/);
    const statuses = await replay(url.replace(/request=.*/, 'request=made-up'));

    expect(new Set(statuses)).toEqual(new Set([400]));
    expect((await send(url)).status).toBe(303);
  });
});

describe('sign-in over several hosts', () => {
  let authenticate: string;
  let one: string;
  let two: string;

  beforeEach(() => {
    authenticate = gateway.originOf('authenticate');
    one = gateway.originOf('one');
    two = gateway.originOf('two');
    provider.redirectUris.clear();
    provider.redirectUris.add(authenticate + CALLBACK);
    configure();
  });

  function configure(routes: readonly string[] = [one, two]): void {
    gateway.configure({
      routes,
      authenticateOrigin: authenticate,
      identityProvider: provider.compiled(),
    });
  }

  function cookieAt(browser: BrowserJar, origin: string): string | undefined {
    const name = `gatehouse-${String(gateway.port)}`;
    return browser.cookie(new URL(origin).hostname, name)?.value;
  }

  test('asks once, at one callback, and serves all hosts', async () => {
    const browser = new BrowserJar();
    const before = provider.authorizationRequests.length;
    const first = await signIn(browser, `${one}/a?b=c`);
    const second = await browser.open(`${two}/d?e=f`);

    expect(answerOf(first)).toMatchObject({ user: 'alice', url: `${one}/a?b=c` });
    expect(answerOf(second)).toMatchObject({ user: 'alice', url: `${two}/d?e=f` });
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

  test('gives each host a cookie of its own, that means nothing on the others', async () => {
    const browser = new BrowserJar();
    await signIn(browser, one);
    await browser.open(two);
    const values = [authenticate, one, two].map((origin) => cookieAt(browser, origin));
    expect(new Set(values).size).toBe(3);
    expect(values).not.toContain(undefined);

    const thief = new BrowserJar();
    thief.setCookie(two, `gatehouse-${String(gateway.port)}=${cookieAt(browser, one) ?? ''}`);
    const page = await thief.open(two, { stopAt: (url) => url.startsWith(provider.issuer) });
    expect(page.status).toBe(303);
  });

  test('leaves no cookie of the sign-in behind', async () => {
    const browser = new BrowserJar();
    await signIn(browser, one);
    const names = browser.cookies
      .map(({ name }) => name)
      .filter((name) => name.includes('gatehouse'));

    expect(names).toEqual(Array(2).fill(`gatehouse-${String(gateway.port)}`));
  });

  test('shares one session', async () => {
    const browser = new BrowserJar();
    await signIn(browser, one);
    await browser.open(two);
    const ids: unknown[] = [];
    for (const origin of [one, two]) {
      const cookie = cookieAt(browser, origin) ?? '';
      const caller = await gateway.identity.sessionCookies.callerOf(cookie, anOrigin(origin));
      ids.push(caller?.kind === 'user' ? caller.session.id : undefined);
    }

    expect(ids[0]).toBeDefined();
    expect(ids[0]).toBe(ids[1]);
  });

  test('works in several tabs on several hosts at the same time', async () => {
    const browser = new BrowserJar();
    const targets = [`${one}/1`, `${two}/2`, `${one}/3`, `${two}/4`];
    const tabs = await Promise.all(targets.map((url) => browser.open(url)));
    const urls: string[] = [];
    for (const tab of tabs) urls.push(answerOf(await browser.submit(tab, { login: 'bob' })).url);

    expect(urls).toEqual(targets);
  });

  test('signs in the authenticate host itself, for its own pages', async () => {
    const page = await signIn(new BrowserJar(), `${authenticate}/.gateway/mcp/authorize?x=y`);
    expect(answerOf(page)).toMatchObject({ url: `${authenticate}/.gateway/mcp/authorize?x=y` });
  });

  test('refuses a code that was used before', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in_code=/);
    const copy = browser.clone();
    expect(answerOf(await browser.open(url)).user).toBe('alice');

    expectRefused(await copy.open(url), 'unknown-code');
    expect(cookieAt(copy, one)).toBeUndefined();
  });

  test('refuses a code at another host than the one it is for', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in_code=/);
    const page = await browser.open(url.replace(one, two));

    expectRefused(page, 'other-origin');
    expect(cookieAt(browser, two)).toBeUndefined();
  });

  test('refuses a code without the cookie that the sign-in began with (login CSRF)', async () => {
    const url = await signInUntil(new BrowserJar(), one, /sign_in_code=/);
    const victim = new BrowserJar();

    expectRefused(await victim.open(url), 'other-browser');
    expect(cookieAt(victim, one)).toBeUndefined();
  });

  test('refuses a code of another browser’s sign-in', async () => {
    const victim = new BrowserJar();
    await victim.open(one);
    const url = await signInUntil(new BrowserJar(), one, /sign_in_code=/);

    expectRefused(await victim.open(url), 'other-browser');
    expect(cookieAt(victim, one)).toBeUndefined();
  });

  test('refuses a code after a minute', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in_code=/);
    gateway.advance(61 * SECOND);

    expectRefused(await browser.open(url), 'unknown-code');
  });

  test('refuses a code whose session was revoked meanwhile', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in_code=/);
    const cookie = cookieAt(browser, authenticate) ?? '';
    const caller = await gateway.identity.sessionCookies.callerOf(cookie, anOrigin(authenticate));
    if (caller?.kind === 'user') await gateway.stores.sessions.revoke(caller.session.id);

    expectRefused(await browser.open(url), 'session-gone');
  });

  test('refuses a request that was tampered with', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in\?request=/);
    const middle = url.length - 40;
    const changed = url.charAt(middle) === 'A' ? 'B' : 'A';
    const page = await browser.open(url.slice(0, middle) + changed + url.slice(middle + 1));

    expectRefused(page, 'invalid-sign-in-request');
  });

  test('refuses two requests at once', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in\?request=/);
    const page = await browser.open(`${url}&request=x`);

    expectRefused(page, 'invalid-sign-in-request');
  });

  test('refuses a request at another host than the authenticate host', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in\?request=/);
    const page = await browser.open(url.replace(authenticate, two));

    expectRefused(page, 'invalid-sign-in-request');
  });

  test('refuses a request that is ten minutes old, and says where to start again', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, `${one}/a?b=c`, /sign_in\?request=/);
    gateway.advance(10 * MINUTE + SECOND);
    const page = await browser.open(url);

    expectRefused(page, 'expired-sign-in-request');
    expect(page.body).toContain(`href="${one}/a?b=c"`);
  });

  test('is no open redirector: the target must be the host of a live route', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in\?request=/);
    configure([two]);

    expectRefused(await browser.open(url), 'unknown-target');
  });

  test('does not send a code to a host whose route went away during the sign-in', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /callback\?.*state=/);
    configure([two]);

    expectRefused(await browser.open(url), 'unknown-target');
  });

  test('tells http from https in what a live route is', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /sign_in\?request=/);
    configure([one.replace('http:', 'https:')]);

    expectRefused(await browser.open(url), 'unknown-target');
  });

  test('takes the provider’s answer at the authenticate host only', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, /callback\?.*state=/);

    expectRefused(await browser.open(url.replace(authenticate, one)), 'malformed-callback');
  });

  test('a page that was asked for in an odd spelling leads nowhere else', async () => {
    const browser = new BrowserJar();
    const page = await signIn(browser, `${one}//attacker.example/x`);

    expect(answerOf(page).url).toBe(`${one}/`);
    expect(page.hops.map(({ url }) => new URL(url).hostname)).not.toContain('attacker.example');
  });

  test('leads to the start page from an address too long to be carried along', async () => {
    const page = await signIn(new BrowserJar(), `${one}/search?q=${'a'.repeat(12_000)}`);
    expect(answerOf(page).url).toBe(`${one}/`);
  });

  test('goes on with SameSite=Strict, where a redirect would carry no cookie', async () => {
    gateway.configure({
      routes: [one, two],
      authenticateOrigin: authenticate,
      identityProvider: provider.compiled(),
      sameSite: 'Strict',
    });
    const browser = new BrowserJar();
    const page = await signIn(browser, `${one}/a?b=c`);

    expect(answerOf(page)).toMatchObject({ user: 'alice', url: `${one}/a?b=c` });
    expect(browser.cookies.find(({ host }) => host === 'one.localhost')?.sameSite).toBe('strict');
  });
});

describe('the session cookie', () => {
  test('counts for nothing when it is sent twice', async () => {
    const app = gateway.originOf('app');
    provider.redirectUris.add(app + CALLBACK);
    gateway.configure({ routes: [app], identityProvider: provider.compiled() });
    const browser = new BrowserJar();
    await signIn(browser, app);
    const name = `gatehouse-${String(gateway.port)}`;
    const value = browser.cookie('app.localhost', name)?.value ?? '';
    const send = async (cookie: string): Promise<number> => {
      const stopAt = (): boolean => true;
      return (await new BrowserJar().open(app, { headers: { cookie }, stopAt })).status;
    };

    expect(await send(`${name}=${value}`)).toBe(200);
    expect(await send(`other=1; ${name}=${value}; ${name}2=x`)).toBe(200);
    expect(await send(`${name}=${value}; ${name}=${value}`)).toBe(303);
    expect(await send(`${name}=${value};\t${name} =planted`)).toBe(303);
    expect(await send(`${name}=planted; a=b; ${name}=${value}`)).toBe(303);
  });
});

describe('sign-out', () => {
  let authenticate: string;
  let one: string;
  let two: string;
  let browser: BrowserJar;

  beforeEach(async () => {
    authenticate = gateway.originOf('authenticate');
    one = gateway.originOf('one');
    two = gateway.originOf('two');
    provider.redirectUris.add(authenticate + CALLBACK);
    gateway.configure({
      routes: [one, two],
      authenticateOrigin: authenticate,
      identityProvider: provider.compiled(),
    });
    browser = new BrowserJar();
    await signIn(browser, one);
    await browser.open(two);
  });

  async function isSignedInAt(origin: string): Promise<boolean> {
    return (await browser.open(origin, { stopAt: () => true })).status === 200;
  }

  async function sessionId(): Promise<string> {
    const cookie = browser.cookie('one.localhost', `gatehouse-${String(gateway.port)}`);
    const caller = await gateway.identity.sessionCookies.callerOf(
      cookie?.value ?? '',
      anOrigin(one),
    );
    return caller?.kind === 'user' ? caller.session.id : 'none';
  }

  test('asks first, then ends the session in the browser on every host at once', async () => {
    const question = await browser.open(`${one}/.gateway/sign_out`);
    expect(question.status).toBe(200);
    expect(question.body).toContain('alice@example.com');
    expect(await isSignedInAt(one)).toBe(true);
    const page = await browser.submit(question);

    expect(page.status).toBe(200);
    expect(page.body).toContain('Signed out');
    expect(browser.cookie('one.localhost', `gatehouse-${String(gateway.port)}`)).toBeUndefined();
    expect(await isSignedInAt(one)).toBe(false);
    expect(await isSignedInAt(two)).toBe(false);
    expect(await isSignedInAt(authenticate)).toBe(false);
  });

  test('leaves the session to the MCP clients connected with it', async () => {
    const id = await sessionId();
    const heard: unknown[] = [];
    using stack = new DisposableStack();
    stack.defer(gateway.stores.revocations.subscribe((revocation) => heard.push(revocation)));
    await browser.submit(await browser.open(`${one}/.gateway/sign_out`));

    expect(heard).toEqual([{ kind: 'browser', sessionId: id }]);
    expect(await gateway.stores.sessions.get(id)).toMatchObject({ id });
  });

  test('does nothing for a form that another page made (CSRF)', async () => {
    const question = await browser.open(`${one}/.gateway/sign_out`);
    const page = await browser.submit(question, { token: 'guessed' });

    expect(page.status).toBe(403);
    expect(await isSignedInAt(one)).toBe(true);
  });

  test('does nothing for the form of another user', async () => {
    const other = new BrowserJar();
    await signIn(other, one, 'bob');
    const theirs = await other.open(`${one}/.gateway/sign_out`);
    const page = await browser.submit(theirs);

    expect(page.status).toBe(403);
    expect(await isSignedInAt(one)).toBe(true);
  });

  test.each(['null', 'https://attacker.example', ''])(
    'does nothing for a form with the origin %p',
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
    // A browser sends no Lax cookie along, and would still take the one that removes it.
    const answer = await send(`${one}/.gateway/sign_out`, { method: 'POST', headers });

    expect(answer.status).toBe(403);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('does nothing for its own form when a sibling domain sends it', async () => {
    const question = await browser.open(`${one}/.gateway/sign_out`);
    const headers = { 'sec-fetch-site': 'same-site' };
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

  test('removes a cookie that stands for nothing', async () => {
    const name = `gatehouse-${String(gateway.port)}`;
    browser.setCookie(one, `${name}=stale`);
    const page = await browser.open(`${one}/.gateway/sign_out`);

    expect(page.body).toContain('Signed out');
    expect(browser.cookie('one.localhost', name)).toBeUndefined();
  });

  test('cannot be framed', async () => {
    const { headers } = await browser.open(`${one}/.gateway/sign_out`);
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  test('tells a browser that is not signed in', async () => {
    const page = await new BrowserJar().open(`${one}/.gateway/sign_out`);

    expect(page.status).toBe(200);
    expect(page.forms).toHaveLength(0);
  });

  test('lets the user sign in again', async () => {
    const signedOut = await browser.submit(await browser.open(`${one}/.gateway/sign_out`));
    browser.deleteCookies(({ host }) => host === '127.0.0.1');
    const page = await browser.follow(signedOut, '/.gateway/sign_in');

    expect(answerOf(await browser.submit(page, { login: 'bob' })).user).toBe('bob');
  });
});

describe('an identity provider that cannot be used', () => {
  let app: string;

  beforeEach(() => {
    app = gateway.originOf('app');
    provider.redirectUris.add(app + CALLBACK);
    gateway.configure({ routes: [app], identityProvider: provider.compiled() });
  });

  function expectProviderPage(page: BrowserPage): void {
    expect(page.status).toBe(502);
    expect(page.body).toContain('identity provider could not be used');
    expect(requestIdOf(page)).toBe(page.headers['x-request-id']);
    expect(page.body).toContain('Try again');
  }

  verifies(
    'errors.auth-flow-page',
    'is told on a page with the request ID, and used again when it is back',
    async () => {
      // Another client ID is another client: nothing is known of its provider yet.
      const identityProvider = { ...provider.compiled(), scopes: ['openid'] };
      gateway.configure({ routes: [app], identityProvider });
      await provider.stop();
      try {
        expectProviderPage(await new BrowserJar().open(`${app}/a?b=c`));
        expect(describeError(gateway.failures.at(-1))).toContain('ECONNREFUSED');
      } finally {
        await provider.start();
      }
      gateway.advance(3 * SECOND);

      expect(answerOf(await signIn(new BrowserJar(), `${app}/a?b=c`)).url).toBe(`${app}/a?b=c`);
    },
  );

  test('is not asked again at once after it failed', async () => {
    const identityProvider = { ...provider.compiled(), scopes: ['openid', 'email'] };
    gateway.configure({ routes: [app], identityProvider });
    provider.fail('discovery');
    const path = '/.well-known/openid-configuration';
    const before = provider.hits.get(path) ?? 0;
    const browser = new BrowserJar();
    for (let attempt = 0; attempt < 5; attempt += 1) expectProviderPage(await browser.open(app));

    expect((provider.hits.get(path) ?? 0) - before).toBe(1);
  });

  test('is asked for its metadata once by all who come at the same time', async () => {
    const identityProvider = { ...provider.compiled(), scopes: ['openid', 'groups'] };
    gateway.configure({ routes: [app], identityProvider });
    const path = '/.well-known/openid-configuration';
    const before = provider.hits.get(path) ?? 0;
    const pages = await Promise.all([1, 2, 3, 4].map(() => new BrowserJar().open(app)));

    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((provider.hits.get(path) ?? 0) - before).toBe(1);
  });

  test('serves on with what was known of it when asking again fails', async () => {
    await signIn(new BrowserJar(), app);
    provider.fail('discovery');
    gateway.advance(61 * MINUTE);

    expect(answerOf(await signIn(new BrowserJar(), app)).user).toBe('alice');
  });

  const WRONG_ISSUERS: readonly (readonly [string, () => { readonly issuer: string }])[] = [
    [
      'an issuer that is not its own',
      () => ({ issuer: provider.issuer.replace('127.0.0.1', 'localhost') }),
    ],
    ['an issuer that is no provider', () => ({ issuer: `${provider.issuer}/nothing` })],
    ['an issuer that is no URL', () => ({ issuer: 'nonsense' })],
  ];

  for (const [what, wrong] of WRONG_ISSUERS) {
    verifies('errors.auth-flow-page', `${what} is told on a page`, async () => {
      const identityProvider = { ...provider.compiled(), ...wrong() };
      gateway.configure({ routes: [app], identityProvider });

      expectProviderPage(await new BrowserJar().open(app));
    });
  }

  verifies('errors.auth-flow-page', 'a client secret that is wrong is told on a page', async () => {
    const identityProvider = { ...provider.compiled(), clientSecret: 'wrong' };
    gateway.configure({ routes: [app], identityProvider });

    expectProviderPage(await signIn(new BrowserJar(), app));
  });

  for (const endpoint of ['token', 'userinfo', 'keys'] as const) {
    verifies(
      'errors.auth-flow-page',
      `a ${endpoint} endpoint that fails is told on a page, and nobody is signed in`,
      async () => {
        // The keys are remembered with the client, so this has to be another one.
        const authorizationParams = { claims_locales: endpoint };
        const identityProvider = { ...provider.compiled(), authorizationParams };
        gateway.configure({ routes: [app], identityProvider });
        provider.fail(endpoint);
        const browser = new BrowserJar();

        expectProviderPage(await signIn(browser, app));
        expect(
          browser.cookie('app.localhost', `gatehouse-${String(gateway.port)}`),
        ).toBeUndefined();
      },
    );
  }

  test('userinfo about somebody else is refused', async () => {
    provider.answers.set('userinfo', { status: 200, body: { sub: 'bob', groups: ['admins'] } });
    expectProviderPage(await signIn(new BrowserJar(), app));
  });

  verifies(
    'errors.auth-flow-page',
    'a provider that is not configured is told on a page',
    async () => {
      gateway.configure({ routes: [app] });
      expectProviderPage(await new BrowserJar().open(app));
    },
  );

  test('a provider that changed during the sign-in is not asked about it', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, `${app}/a`, /callback\?.*state=/);
    gateway.configure({ routes: [app], identityProvider: { ...provider.compiled(), name: 'new' } });
    const page = await browser.open(url);

    expectRefused(page, 'other-provider');
    expect(page.body).toContain(`href="${app}/a"`);
  });

  test('is not reached over http without the development flag', async () => {
    await using strict = await startSignInHarness({ devAllowLoopback: false });
    const origin = strict.originOf('app');
    strict.configure({ routes: [origin], identityProvider: provider.compiled() });

    expect((await new BrowserJar().open(origin)).status).toBe(502);
    expect(describeError(strict.failures.at(-1))).toContain('OAUTH_HTTP_REQUEST_FORBIDDEN');
  });

  test('leaves nothing of a malformed token response in what is logged', async () => {
    provider.answers.set('token', { status: 200, body: 'token-7f31 was not JSON' });
    expectProviderPage(await signIn(new BrowserJar(), app));

    expect(describeError(gateway.failures.at(-1))).toContain('OAUTH_PARSE_ERROR');
    expect(describeError(gateway.failures.at(-1))).not.toContain('token-7f31');
  });

  test('leaves no secret in what is logged', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, app, /callback\?.*state=/);
    provider.answers.set('token', { status: 200, body: { access_token: 'secret-access-token' } });
    await browser.open(url);
    const denied = new BrowserJar();
    await denied.submit(await denied.open(app), { login: '' });

    const { searchParams } = new URL(url);
    const logged = gateway.failures.map(describeError).join('\n');
    expect(logged).toContain('identity-provider'.replace('-', ' '));
    const state = provider.authorizationRequests.at(-1)?.get('state') ?? 'none';
    const secrets = ['code', 'state'].map((name) => searchParams.get(name) ?? 'none');
    for (const secret of [...secrets, state, provider.clientSecret, 'secret-access-token']) {
      expect(logged).not.toContain(secret);
    }
  });
});

describe('the keys of the identity assertion', () => {
  verifies(
    'assertion.verifiable',
    'are at every host, for anybody to verify assertions with',
    async () => {
      const one = gateway.originOf('one');
      gateway.configure({ routes: [one], identityProvider: provider.compiled() });
      const { status, headers, body } = await new BrowserJar().open(`${one}/.gateway/jwks.json`);

      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json');
      expect(headers['cache-control']).toBe('public, max-age=300');
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(JSON.parse(body)).toEqual(jwksDocument(gateway.signingKeys));
    },
  );
});
