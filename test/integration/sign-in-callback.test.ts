import { beforeEach, describe, expect, test } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { openForAll } from '../support/open-for-all.ts';
import {
  expectRefused,
  signInAt,
  signInUntil,
  startSignInWorld,
} from '../support/sign-in-world.ts';

const CALLBACK = '/.gateway/callback';
const PROVIDER_ANSWER = /callback\?.*state=/;

const world = openForAll(startSignInWorld);

let app: string;

beforeEach(async () => {
  app = world().originOf('app');
  await world().serve({ routes: [app] });
});

describe('The callback of the identity provider', () => {
  test('refuses a state that was used before', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, app, PROVIDER_ANSWER);
    const copy = browser.clone();
    await browser.open(url);

    expectRefused(await copy.open(url), 'unknown-state', world());
  });

  test('refuses a state that was never issued', async () => {
    const page = await new BrowserJar().open(`${app}${CALLBACK}?state=made-up&code=x`);
    expectRefused(page, 'unknown-state', world());
  });

  test('refuses the response to a sign-in of another browser (login CSRF)', async () => {
    const attacker = new BrowserJar();
    const victim = new BrowserJar();
    await victim.open(app);
    const url = await signInUntil(attacker, app, PROVIDER_ANSWER);
    const page = await victim.open(url);

    expectRefused(page, 'other-browser', world());
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(attacker.cookies.length).toBeGreaterThan(0);
  });

  test('refuses a response without the cookie that the sign-in began with', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, app, PROVIDER_ANSWER);

    expectRefused(await new BrowserJar().open(url), 'other-browser', world());
  });

  test.each([
    ['no parameter at all', ''],
    ['an empty state', '?state='],
    ['two states', '?state=a&state=b'],
    ['a state and a code of the gateway', '?state=a&sign_in_code=b'],
    ['a state, and neither a code nor an error', '?state=a'],
    ['a state and an empty code', '?state=a&code='],
    ['a code and an error', '?state=a&code=b&error=access_denied'],
    ['two codes', '?state=a&code=b&code=c'],
    ['two issuers', '?state=a&code=b&iss=c&iss=d'],
  ])('refuses a response with %s', async (_case, query) => {
    const page = await new BrowserJar().open(app + CALLBACK + query);
    expect(page.status).toBe(400);
    expect(page.body).toContain('Try again');
  });

  test('refuses a good state without a code, and then accepts the whole response', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, app, PROVIDER_ANSWER);
    const withoutCode = new URL(url);
    withoutCode.searchParams.delete('code');

    expectRefused(await browser.open(withoutCode.href), 'malformed-callback', world());
    expect((await browser.open(url)).status).toBe(200);
  });

  test('accepts a response that was shown to another browser before', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, app, PROVIDER_ANSWER);

    expectRefused(await new BrowserJar().open(url), 'other-browser', world());
    expect((await browser.open(url)).status).toBe(200);
  });

  test('refuses a response that names a different issuer (mix-up)', async () => {
    const browser = new BrowserJar();
    const url = new URL(await signInUntil(browser, app, PROVIDER_ANSWER));
    expect(url.searchParams.get('iss')).toBe(world().provider.issuer);
    url.searchParams.set('iss', 'https://attacker.example');
    const page = await browser.open(url.href);

    expect(page.status).toBe(502);
    expect(browser.cookie('app.localhost', world().cookieName)).toBeUndefined();
  });

  test('refuses a code that the provider issued for another sign-in', async () => {
    const [attacker, victim] = [new BrowserJar(), new BrowserJar()];
    const stolen = new URL(await signInUntil(attacker, app, PROVIDER_ANSWER));
    const url = new URL(await signInUntil(victim, app, PROVIDER_ANSWER));
    url.searchParams.set('code', stolen.searchParams.get('code') ?? '');

    expectRefused(await victim.open(url.href), 'invalid-grant', world());
  });

  test('shows a page to a user whom the provider refuses', async () => {
    const browser = new BrowserJar();
    const page = await browser.submit(await browser.open(app), { login: '' });

    expect(page.status).toBe(403);
    expect(page.body).toContain('did not let you in');
    expect(world().lastFailure()?.['reason']).toBe('access-denied');
  });
});

test.each([
  ['nonce', 502],
  ['codeVerifier', 400],
] as const)(
  'the provider’s response is refused if the %s of the sign-in differs',
  async (member, status) => {
    await using tampered = await startSignInWorld({
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
    const origin = tampered.originOf('app');
    await tampered.serve({ routes: [origin] });
    const page = await signInAt(new BrowserJar(), origin);

    expect(page.status).toBe(status);
  },
);
