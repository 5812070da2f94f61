import { beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';

import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import { BrowserJar, type StoredCookie } from '../support/browser-jar.ts';
import { aCompiledRoute, aResource } from '../support/compiled-resources.ts';
import { compiledSettings } from '../support/compiled-settings.ts';
import { send } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { signInUntil } from '../support/sign-in-world.ts';
import { signInAlice, startTwoProvidersWorld } from '../support/two-providers-world.ts';

const world = openForAll(startTwoProvidersWorld);

beforeEach(() => world().serve());

function sessionCookies(browser: BrowserJar): readonly StoredCookie[] {
  return browser.cookies.filter(({ name }) => name.startsWith('gatehouse-'));
}

/** What the upstream got of the user of the last request. */
function assertedUser(): unknown {
  const assertion = world().lastRequest()?.message.headers['x-gateway-assertion']?.toString();
  const { sub, email, idp } = decodeJwt(assertion ?? '');
  return { sub, email, idp };
}

function alice(idp: string): unknown {
  return { sub: 'alice', email: 'alice@example.com', idp };
}

/** Returns the status of a navigation, without following redirects. */
async function statusAt(url: string, browser: BrowserJar): Promise<number> {
  return (await browser.open(url, { stopAt: () => true })).status;
}

function lastReason(): unknown {
  return world()
    .gateway.logs()
    .findLast(({ reason }) => reason !== undefined)?.['reason'];
}

describe('A Route that names an identity provider', () => {
  test('signs its users in there, and other routes of the host at the one with signIn', async () => {
    const { app, partnerApp, company, partner } = world();
    const browser = new BrowserJar();

    const partnerPage = await signInAlice(browser, partnerApp);
    expect(partnerPage.status).toBe(200);
    expect(partnerPage.hops.some(({ url }) => url.startsWith(company.issuer))).toBe(false);
    expect(assertedUser()).toEqual(alice(partner.issuer));

    const companyPage = await signInAlice(browser, app);
    expect(companyPage.status).toBe(200);
    expect(assertedUser()).toEqual(alice(company.issuer));
  });

  test('and the others share a browser: nobody signs in again when they change between them', async () => {
    const { app, partnerApp } = world();
    const browser = new BrowserJar();
    await signInAlice(browser, app);
    await signInAlice(browser, partnerApp);

    for (const url of [app, partnerApp, app]) expect(await statusAt(url, browser)).toBe(200);
    const names = sessionCookies(browser).map(({ name }) => name);
    const { port } = world().gateway;
    expect(names.toSorted()).toEqual([
      `gatehouse-${String(port)}`,
      `gatehouse-session-${String(port)}-partner`,
    ]);
  });

  test('accepts no session of another provider, whatever the name of its cookie', async () => {
    const { app, partnerApp, gateway } = world();
    const browser = new BrowserJar();
    await signInAlice(browser, app);
    const [session] = sessionCookies(browser);
    const cookie = `gatehouse-session-${String(gateway.port)}-partner=${session?.value ?? ''}`;

    expect((await send(partnerApp, { headers: { cookie } })).status).toBe(401);
    await signInAlice(browser, partnerApp);
    const [, other] = sessionCookies(browser);
    const reversed = `gatehouse-${String(gateway.port)}=${other?.value ?? ''}`;
    expect((await send(app, { headers: { cookie: reversed } })).status).toBe(401);
  });

  test('passes no session cookie on, of any provider', async () => {
    const { app, partnerApp } = world();
    const browser = new BrowserJar();
    await signInAlice(browser, app);
    await signInAlice(browser, partnerApp);
    browser.setCookie(app, 'own=1; Path=/');
    for (const url of [app, partnerApp]) {
      await browser.open(url);
      expect(world().lastRequest()?.message.headers.cookie).toBe('own=1');
    }
  });

  test('has a redirect URI of its own at its provider', async () => {
    const { app, partnerApp, partner, company } = world();
    await signInAlice(new BrowserJar(), partnerApp);
    await signInAlice(new BrowserJar(), app);

    const uriOf = ({ authorizationRequests }: typeof partner): unknown =>
      authorizationRequests.at(-1)?.get('redirect_uri');
    expect(uriOf(partner)).toBe(`${app}/.gateway/callback/partner`);
    expect(uriOf(company)).toBe(`${app}/.gateway/callback`);
  });

  test('is served after sign-in at the authenticate host, where a browser keeps a session of each', async () => {
    await world().serve({ withAuthenticateUrl: true });
    const { app, partnerApp, authenticate, partner } = world();
    const browser = new BrowserJar();

    expect((await signInAlice(browser, partnerApp)).url).toBe(partnerApp);
    expect(assertedUser()).toEqual(alice(partner.issuer));
    expect((await signInAlice(browser, app)).url).toBe(`${app}/`);
    expect(await statusAt(partnerApp, browser)).toBe(200);
    // The account page names both, and does not mix them up.
    const account = await browser.open(`${authenticate}/.gateway/`);
    expect(account.body).toContain('<strong>alice@example.com</strong> (company)');
    expect(account.body).toContain('<strong>alice@example.com</strong> (partner)');
  });
});

describe('Sign-out', () => {
  test('ends the sessions of all providers, and removes their cookies', async () => {
    const { app, partnerApp } = world();
    const browser = new BrowserJar();
    await signInAlice(browser, app);
    await signInAlice(browser, partnerApp);
    const stolen = browser.clone();

    const page = await browser.submit(await browser.open(`${app}/.gateway/sign_out`));
    expect(page.body).toContain('Signed out');
    expect(sessionCookies(browser)).toEqual([]);
    for (const url of [app, partnerApp]) expect(await statusAt(url, stolen)).toBe(303);
  });

  test('needs the form of the page, with a session of any provider', async () => {
    const { partnerApp, app } = world();
    const browser = new BrowserJar();
    await signInAlice(browser, partnerApp);
    const form = await browser.open(`${app}/.gateway/sign_out`);

    expect((await browser.submit(form, { token: 'guessed' })).status).toBe(403);
    expect(await statusAt(partnerApp, browser)).toBe(200);
    expect((await browser.submit(form)).status).toBe(200);
    expect(await statusAt(partnerApp, browser)).toBe(303);
  });
});

describe('An answer of one provider at the callback of another', () => {
  test('is refused, and no provider gets the code', async () => {
    const { partnerApp, app, company, partner } = world();
    const browser = new BrowserJar();
    const callback = await signInUntil(browser, partnerApp, /callback\/partner\?/);
    const before = company.tokenRequests() + partner.tokenRequests();

    const mixedUp = callback.replace('/callback/partner?', '/callback?');
    expect((await browser.clone().open(mixedUp)).status).toBe(400);
    expect(lastReason()).toBe('other-provider');
    const begunAtCompany = await signInUntil(browser, app, /callback\?.*state=/);
    const reversed = begunAtCompany.replace('/callback?', '/callback/partner?');
    expect((await browser.open(reversed)).status).toBe(400);
    expect(lastReason()).toBe('other-provider');
    expect(company.tokenRequests() + partner.tokenRequests()).toBe(before);
  });

  test('of the gateway’s own codes is refused', async () => {
    const { app } = world();
    const url = `${app}/.gateway/callback/partner?sign_in_code=x`;
    expect((await new BrowserJar().open(url)).status).toBe(400);
    expect(lastReason()).toBe('malformed-callback');
  });
});

describe('When signIn moves to another provider', () => {
  test('users sign in there, once, and their sessions of before open nothing', async () => {
    const { app, partnerApp, partner } = world();
    const browser = new BrowserJar();
    await signInAlice(browser, app);
    await world().serve({ signIn: 'partner' });

    expect(await statusAt(app, browser)).toBe(303);
    await signInAlice(browser, app);
    expect(assertedUser()).toEqual(alice(partner.issuer));
    for (const url of [partnerApp, app]) expect(await statusAt(url, browser)).toBe(200);
  });

  test('sign-out still ends the sessions of before, so that none comes back with signIn', async () => {
    const { app, partnerApp } = world();
    const browser = new BrowserJar();
    await signInAlice(browser, app);
    await signInAlice(browser, partnerApp);
    const stolen = browser.clone();
    await world().serve({ signIn: 'partner' });

    const page = await browser.submit(await browser.open(`${app}/.gateway/sign_out`));
    expect(page.body).toContain('Signed out');
    expect(sessionCookies(browser)).toEqual([]);
    await world().serve();
    for (const url of [app, partnerApp]) expect(await statusAt(url, stolen)).toBe(303);
  });

  test('the account page does not call users signed in whose sessions open nothing', async () => {
    const { app } = world();
    const browser = new BrowserJar();
    await signInAlice(browser, app);
    await world().serve({ signIn: 'partner' });
    expect((await browser.open(`${app}/.gateway/`)).body).toContain('You are not signed in');
  });
});

describe('A Route whose users cannot sign in', () => {
  test.each([
    ['the provider that it names is gone', { name: 'other' }, 'no-identity-provider'],
    ['that provider is Apple', { type: 'apple' }, 'no-sign-in'],
  ] as const)('lets nobody in if %s, and the page says so', async (_why, changes, reason) => {
    const { gateway, app } = world();
    const { port, hostname } = new URL(app);
    const route = aCompiledRoute({
      ...{ scheme: 'http', host: hostname, port: Number(port), identityProvider: 'partner' },
      access: { kind: 'policy', policy: { allow: { and: [{ kind: 'accept' }] } } },
    });
    const provider = { ...world().partner.compiled(), name: 'partner', signIn: false, ...changes };
    const browser = new BrowserJar();
    await signInAlice(browser, app);
    const resources = [compiledSettings(), provider, route];
    await gateway.gateway.apply(snapshotOf(resources.map(aResource)));

    const page = await browser.open(app);
    expect(page.status).toBe(502);
    expect(page.body).toContain('an identity provider that this gateway cannot use');
    expect(lastReason()).toBe(reason);
  });
});

describe('Where Routes name all identity providers, and none has signIn', () => {
  test('the pages of the gateway offer no sign-in that leads nowhere', async () => {
    await world().serve({ signIn: 'none', withAuthenticateUrl: true });
    const { authenticate, partnerApp } = world();
    const browser = new BrowserJar();
    for (const path of ['/.gateway/', '/.gateway/sign_in']) {
      const page = await browser.open(authenticate + path);
      expect(page.status).toBe(200);
      expect(page.body).toContain('Open the page that you want to use');
      expect(page.body).not.toContain('href="/.gateway/sign_in"');
    }

    expect((await signInAlice(browser, partnerApp)).status).toBe(200);
    const out = await browser.submit(await browser.open(`${authenticate}/.gateway/sign_out`));
    expect(out.body).not.toContain('href="/.gateway/sign_in"');
  });
});
