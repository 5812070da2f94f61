import { beforeEach, describe, expect, test } from '@jest/globals';

import { authorizationUrl } from '../../proxy/identity-provider/identity-provider.ts';
import { ProviderDiscovery } from '../../proxy/identity-provider/provider-discovery.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { openForAll } from '../support/open-for-all.ts';
import {
  expectRefused,
  signInAt,
  startSignInWorld,
  upstreamAnswer,
} from '../support/sign-in-world.ts';
import { verifies } from '../requirements/verifies.ts';

const CALLBACK = '/.gateway/callback';
const SECOND = 1000;

const world = openForAll(startSignInWorld);

let app: string;

beforeEach(async () => {
  app = world().originOf('app');
  await world().serve({ routes: [app] });
});

describe('A sign-in on one host', () => {
  test('leads back to the requested page, with its query', async () => {
    const page = await signInAt(new BrowserJar(), `${app}/reports/7?sort=a%20b&q=%2F%2Fx&empty=`);

    expect(page.url).toBe(`${app}/reports/7?sort=a%20b&q=%2F%2Fx&empty=`);
    expect(upstreamAnswer(page)).toEqual({
      user: 'alice',
      email: 'alice@example.com',
      groups: ['engineering'],
      url: `${app}/reports/7?sort=a%20b&q=%2F%2Fx&empty=`,
    });
  });

  test('sends PKCE, state and nonce to the provider, new ones each time', async () => {
    const { provider } = world();
    const before = provider.authorizationRequests.length;
    await signInAt(new BrowserJar(), app);
    await signInAt(new BrowserJar(), app);

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

  test('sends the configured parameters to the provider as well', async () => {
    await world().serve({ routes: [app], provider: { authorizationParams: { prompt: 'login' } } });
    await signInAt(new BrowserJar(), app);

    expect(world().provider.authorizationRequests.at(-1)?.get('prompt')).toBe('login');
  });

  test('keeps its own PKCE method and state if configured parameters name others', async () => {
    // The compiler refuses such parameters, so this is about a snapshot that it did not make.
    const authorizationParams = { code_challenge_method: 'plain', state: 'x', prompt: 'login' };
    const provider = { ...world().provider.compiled(), authorizationParams };
    const discovery = new ProviderDiscovery({ devAllowLoopback: true, now: Date.now });
    const secrets = { state: 'state-1', nonce: 'nonce-1', codeVerifier: 'v'.repeat(43) };
    const url = await authorizationUrl(provider, discovery, app + CALLBACK, secrets);

    const { searchParams } = new URL(url);
    expect(searchParams.get('prompt')).toBe('login');
    expect(searchParams.getAll('code_challenge_method')).toEqual(['S256']);
    expect(searchParams.getAll('state')).toEqual(['state-1']);
  });

  test('leaves one cookie, which lives as long as the session', async () => {
    await world().serve({ routes: [app], sessionSeconds: 3600 });
    const browser = new BrowserJar();
    await signInAt(browser, app);

    const cookies = browser.cookies.filter(({ host }) => host === 'app.localhost');
    expect(cookies).toHaveLength(1);
    expect(cookies[0]?.name).toBe(world().cookieName);
    expect(cookies[0]?.text).toMatch(/; Max-Age=3(?:600|59\d); Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('ends when its session expires', async () => {
    await world().serve({ routes: [app], sessionSeconds: 60 });
    const browser = new BrowserJar();
    await signInAt(browser, app);
    const isAtProvider = (url: string): boolean => url.startsWith(world().provider.issuer);
    const before = await browser.open(app, { stopAt: isAtProvider });
    world().advance(61 * SECOND);
    const after = await browser.open(app, { stopAt: isAtProvider });

    expect([before.status, after.status]).toEqual([200, 303]);
  });

  test('sets a new cookie each time', async () => {
    const browser = new BrowserJar();
    await signInAt(browser, app);
    const first = browser.cookie('app.localhost', world().cookieName);
    browser.deleteCookies(({ host }) => host === 'app.localhost');
    await signInAt(browser, app);
    const second = browser.cookie('app.localhost', world().cookieName);

    expect(second?.value).toMatch(/^[\w-]{43}$/);
    expect(second?.value).not.toBe(first?.value);
  });

  verifies('as.session-cookie', 'uses a Secure __Host- cookie over TLS', async () => {
    const secureApp = 'https://app.example.test';
    const isHostCookie = /^__Host-.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/;
    await world().serve({ routes: [secureApp] });
    const browser = new BrowserJar({ tlsPort: world().gateway.port });
    const page = await signInAt(browser, `${secureApp}/x`);

    expect(upstreamAnswer(page).url).toBe(`${secureApp}/x`);
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

  test('signs in at a host of a wildcard route under the requested name', async () => {
    const [wildcard, tenant] = [world().originOf('*'), world().originOf('tenant-7')];
    world().provider.redirectUris.add(tenant + CALLBACK);
    await world().serve({ routes: [wildcard] });

    const page = await signInAt(new BrowserJar(), `${tenant}/a`);
    expect(page.url).toBe(`${tenant}/a`);
    expect(upstreamAnswer(page).url).toBe(`${tenant}/a`);
  });

  test('is refused on plain http outside loopback, so that no session cookie is set there', async () => {
    const insecure = `http://app.example.test:${String(world().gateway.port)}`;
    await world().serve({ routes: [app], publicRoutes: [insecure] });
    const browser = new BrowserJar();
    const page = await browser.open(`${insecure}/.gateway/sign_in`);

    expectRefused(page, 'unknown-target', world());
    expect(browser.cookies.map(({ name }) => name)).not.toContain(world().cookieName);
  });

  test('works in several tabs at the same time', async () => {
    const browser = new BrowserJar();
    const tabs = await Promise.all(['/1', '/2', '/3'].map((path) => browser.open(app + path)));
    const urls: string[] = [];
    for (const tab of tabs) {
      urls.push(upstreamAnswer(await browser.submit(tab, { login: 'bob' })).url);
    }

    expect(urls).toEqual([`${app}/1`, `${app}/2`, `${app}/3`]);
  });

  test('limits the cookies of sign-ins that were never finished', async () => {
    const browser = new BrowserJar();
    for (let attempt = 0; attempt < 20; attempt += 1) await browser.open(app);

    const names = browser.cookies.map(({ name }) => name);
    const ours = names.filter((name) => name.startsWith('gatehouse-'));
    expect(ours.length).toBeGreaterThan(10);
    expect(ours.length).toBeLessThan(30);
    expect(upstreamAnswer(await signInAt(browser, app)).user).toBe('alice');
  });

  test('leads to the start page if no page was requested', async () => {
    const page = await signInAt(new BrowserJar(), `${app}/.gateway/sign_in`);
    expect(page.url).toBe(`${app}/`);
    expect(upstreamAnswer(page).user).toBe('alice');
  });

  test('drops an email address that the provider calls unverified', async () => {
    const eve = { email: 'ceo@example.com', email_verified: false, groups: 'visitors' };
    world().provider.users.set('eve', eve);
    const page = await signInAt(new BrowserJar(), app, 'eve');

    expect(upstreamAnswer(page)).toMatchObject({ user: 'eve', email: null, groups: ['visitors'] });
  });
});

describe('The session cookie', () => {
  test('is ignored if it is sent twice', async () => {
    const browser = new BrowserJar();
    await signInAt(browser, app);
    const name = world().cookieName;
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
