import { describe, expect, test } from '@jest/globals';

import { hashToken } from '../../../../proxy/crypto/tokens.ts';
import {
  expiredCookie,
  isGatewayCookie,
  isSessionCookie,
  bindingCookie,
  bindingCookieName,
  readCookie,
  readCookies,
  sessionCookie,
  sessionCookieName,
} from '../../../../proxy/http/cookies.ts';
import { anOrigin } from '../../../support/an-origin.ts';

const SECURE = anOrigin('https://app.example:8443');
const LOOPBACK = anOrigin('http://localhost:8080');
const name = '__Host-gatehouse';
const lax = { name, sameSite: 'Lax', maxAgeSeconds: 60 } as const;

describe('cookie names', () => {
  test.each([
    ['https://app.example', '__Host-gatehouse', '__Host-gatehouse-sign-in-yi8gaeoM'],
    [SECURE, '__Host-gatehouse', '__Host-gatehouse-sign-in-yi8gaeoM'],
    [LOOPBACK, 'gatehouse-8080', 'gatehouse-sign-in-8080-yi8gaeoM'],
    ['http://localhost', 'gatehouse-80', 'gatehouse-sign-in-80-yi8gaeoM'],
    ['http://[::1]:9', 'gatehouse-9', 'gatehouse-sign-in-9-yi8gaeoM'],
  ])('of %s are %s and %s', (origin, session, login) => {
    expect(sessionCookieName(anOrigin(origin), { signIn: true, name: 'corp' })).toBe(session);
    expect(bindingCookieName(anOrigin(origin), 'sign-in', hashToken('abcdefghijk'))).toBe(login);
    const cookie = `${session}=a; ${session}=b; ${login}=a; ${login}=b`;
    expect({ ...readCookies({ headers: { cookie } }) }).toEqual({});
  });
});

test.each([
  [SECURE, '__Host-gatehouse-session-partner'],
  [LOOPBACK, 'gatehouse-session-8080-partner'],
] as const)('the session cookie of a named provider at %s is %s', (origin, expected) => {
  const cookie = sessionCookieName(origin, { signIn: false, name: 'partner' });
  const signIn = bindingCookieName(origin, 'sign-in', hashToken('abcdefghijk'));

  expect(cookie).toBe(expected);
  expect(isGatewayCookie(cookie)).toBe(true);
  expect([cookie, signIn].map((each) => isSessionCookie(origin, each))).toEqual([true, false]);
});

describe('cookies that are set', () => {
  test('over TLS are Secure, HttpOnly, for the host alone and all of its paths', () => {
    expect(sessionCookie(SECURE, 'v', lax)).toBe(
      '__Host-gatehouse=v; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax',
    );
  });

  test('on http loopback are not Secure', () => {
    expect(sessionCookie(LOOPBACK, 'v', { ...lax, name: 'gatehouse-8080' })).toBe(
      'gatehouse-8080=v; Max-Age=60; Path=/; HttpOnly; SameSite=Lax',
    );
  });

  test.each([
    [SECURE, 'Strict', 'SameSite=Strict'],
    [SECURE, 'None', 'SameSite=None'],
    [LOOPBACK, 'Strict', 'SameSite=Strict'],
    // Browsers drop SameSite=None without Secure.
    [LOOPBACK, 'None', 'SameSite=Lax'],
  ] as const)('at %s with the setting %s say %s', (origin, sameSite, expected) => {
    const text = sessionCookie(anOrigin(origin), 'v', { name, sameSite, maxAgeSeconds: 60 });
    expect(text.split('; ')).toContain(expected);
  });

  test('of a binding are Lax, so that they come back from another site', () => {
    const name = bindingCookieName(SECURE, 'sign-in', hashToken('abcdefgh'));
    expect(bindingCookie(SECURE, { name, value: 'v' }, 60)).toBe(
      `${name}=v; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax`,
    );
  });

  test('are removed with the attributes that they were set with', () => {
    expect(expiredCookie(SECURE, '__Host-gatehouse')).toBe(
      '__Host-gatehouse=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax',
    );
  });
});

describe('the cookies of the gateway in a request', () => {
  function read(cookie: string | undefined): Readonly<Record<string, string | undefined>> {
    return { ...readCookies({ headers: cookie === undefined ? {} : { cookie } }) };
  }

  test.each([
    [undefined, {}],
    ['', {}],
    ['gatehouse-1=b', { 'gatehouse-1': 'b' }],
    ['a=b;gatehouse-1=d=e; gatehouse-2=;f=', { 'gatehouse-1': 'd=e', 'gatehouse-2': '' }],
    // Values stand for themselves: two spellings of one value would be two keys to one lock.
    ['gatehouse-1=%41; gatehouse-2="c"', { 'gatehouse-1': '%41', 'gatehouse-2': '"c"' }],
    ['gatehouse; nonsense; gatehouse-1=b;', { 'gatehouse-1': 'b' }],
    // Other people's cookies are not the gateway's.
    ['a=b; a=c; b=gatehouse-1=c; xgatehouse-1=d; gatehouses=e', {}],
  ])('that are its own, in %j, are %j', (header, expected) => {
    expect(read(header)).toEqual(expected);
  });

  test.each([
    '__Host-gatehouse=a; __Host-gatehouse=b',
    '__Host-gatehouse=a; x=y; __Host-gatehouse=a',
    '__Host-gatehouse=a;__Host-gatehouse=b',
    '__Host-gatehouse =a; \t__Host-gatehouse\t=b',
    '__Host-gatehouse=; __Host-gatehouse=b',
  ])('are ignored if they repeat a cookie of the gateway: %j', (cookie) => {
    expect(readCookie({ headers: { cookie } }, '__Host-gatehouse')).toBeUndefined();
  });

  // Chromium was seen to take the first of them from a sibling domain, whatever prefix follows.
  test.each([
    '\u00a0__Host-gatehouse',
    '__Host-gatehouse\u00a0',
    '\u00a0 __Host-gatehouse',
    '\v__Host-gatehouse',
  ])('are found beside a planted cookie with a space that is not blank: %j', (name) => {
    for (const cookie of [
      `${name}=planted; __Host-gatehouse=v`,
      `__Host-gatehouse=v; ${name}=planted`,
    ]) {
      expect(readCookie({ headers: { cookie } }, '__Host-gatehouse')).toBe('v');
    }
  });

  test('are found beside cookies with similar names', () => {
    const cookie = '__Host-gatehouse-x=1; __Host-gatehouse=v; __Host-gatehouse2=3';
    expect(readCookie({ headers: { cookie } }, '__Host-gatehouse')).toBe('v');
  });

  test('cannot change the prototype of the object that holds them', () => {
    const cookies = readCookies({ headers: { cookie: '__proto__=x; constructor=y' } });
    expect(Object.getPrototypeOf(cookies)).not.toBe(Object.prototype);
    expect(readCookie({ headers: {} }, 'toString')).toBeUndefined();
  });
});
