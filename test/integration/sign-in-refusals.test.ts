import { beforeEach, describe, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { openForAll } from '../support/open-for-all.ts';
import {
  expectRefused,
  signInUntil,
  startSignInWorld,
  upstreamAnswer,
} from '../support/sign-in-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const REQUEST = /sign_in\?request=/;
const CODE = /sign_in_code=/;
const PROVIDER_ANSWER = /callback\?.*state=/;

const world = openForAll(startSignInWorld);

let authenticate: string;
let one: string;
let two: string;

beforeEach(async () => {
  authenticate = world().originOf('authenticate');
  one = world().originOf('one');
  two = world().originOf('two');
  await serve([one, two]);
});

async function serve(routes: readonly string[]): Promise<void> {
  await world().serve({ routes, authenticateUrl: authenticate });
}

function cookieAt(browser: BrowserJar, origin: string): string | undefined {
  return browser.cookie(new URL(origin).hostname, world().cookieName)?.value;
}

describe('A route host refuses a sign-in code', () => {
  test('that was used before', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, CODE);
    const copy = browser.clone();
    expect(upstreamAnswer(await browser.open(url)).user).toBe('alice');

    expectRefused(await copy.open(url), 'unknown-code', world());
    expect(cookieAt(copy, one)).toBeUndefined();
  });

  test('that was issued for another host', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, CODE);
    const page = await browser.open(url.replace(one, two));

    expectRefused(page, 'other-origin', world());
    expect(cookieAt(browser, two)).toBeUndefined();
  });

  test('without the cookie that the sign-in began with (login CSRF)', async () => {
    const url = await signInUntil(new BrowserJar(), one, CODE);
    const victim = new BrowserJar();

    expectRefused(await victim.open(url), 'other-browser', world());
    expect(cookieAt(victim, one)).toBeUndefined();
  });

  test('of another browser’s sign-in', async () => {
    const victim = new BrowserJar();
    await victim.open(one);
    const url = await signInUntil(new BrowserJar(), one, CODE);

    expectRefused(await victim.open(url), 'other-browser', world());
    expect(cookieAt(victim, one)).toBeUndefined();
  });

  test('of another browser or host, and leaves it good for its own', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, CODE);

    expectRefused(await new BrowserJar().open(url), 'other-browser', world());
    expectRefused(await browser.open(url.replace(one, two)), 'other-origin', world());
    expect(upstreamAnswer(await browser.open(url)).user).toBe('alice');
    expectRefused(await browser.open(url), 'unknown-code', world());
  });

  test('after a minute', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, CODE);
    world().advance(61 * SECOND);

    expectRefused(await browser.open(url), 'unknown-code', world());
  });

  test('whose session was revoked in the meantime', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, CODE);
    const { browserSessions, sessions } = world().gateway.stores;
    const hash = hashToken(cookieAt(browser, authenticate) ?? '');
    await sessions.revoke((await browserSessions.get(hash))?.sessionId ?? 'none');

    expectRefused(await browser.open(url), 'session-gone', world());
  });
});

describe('The authenticate host refuses a sign-in request', () => {
  test('that was tampered with', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, REQUEST);
    const middle = url.length - 40;
    const changed = url.charAt(middle) === 'A' ? 'B' : 'A';
    const page = await browser.open(url.slice(0, middle) + changed + url.slice(middle + 1));

    expectRefused(page, 'invalid-sign-in-request', world());
  });

  test('that comes with a second one', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, REQUEST);

    expectRefused(await browser.open(`${url}&request=x`), 'invalid-sign-in-request', world());
  });

  test('that was sealed for another host', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, REQUEST);
    const page = await browser.open(url.replace(authenticate, two));

    expectRefused(page, 'invalid-sign-in-request', world());
  });

  test('that is ten minutes old, and shows where to start again', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, `${one}/a?b=c`, REQUEST);
    world().advance(10 * MINUTE + SECOND);
    const page = await browser.open(url);

    expectRefused(page, 'expired-sign-in-request', world());
    expect(page.body).toContain(`href="${one}/a?b=c"`);
  });

  test('whose target has no live route (open redirector)', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, REQUEST);
    await serve([two]);

    expectRefused(await browser.open(url), 'unknown-target', world());
  });

  test('whose target is on http while its route is on https', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, REQUEST);
    await serve([one.replace('http:', 'https:')]);

    expectRefused(await browser.open(url), 'unknown-target', world());
  });
});

describe('The response of the identity provider is refused', () => {
  test('if the route of the target was removed during the sign-in', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, PROVIDER_ANSWER);
    await serve([two]);

    expectRefused(await browser.open(url), 'unknown-target', world());
  });

  test('at every host but the authenticate host', async () => {
    const browser = new BrowserJar();
    const url = await signInUntil(browser, one, PROVIDER_ANSWER);

    const page = await browser.open(url.replace(authenticate, one));
    expectRefused(page, 'malformed-callback', world());
  });
});
