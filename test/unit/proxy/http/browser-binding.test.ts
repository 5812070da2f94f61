import { describe, expect, test } from '@jest/globals';

import { parseSetCookie } from 'cookie';

import {
  bindBrowser,
  endBinding,
  isBoundBrowser,
  type BrowserBinding,
} from '../../../../proxy/http/browser-binding.ts';
import type { TokenHash } from '../../../../proxy/crypto/tokens.ts';
import { anOrigin } from '../../../support/an-origin.ts';

const MAX_COOKIES = { 'sign-in': 24, connect: 12 };

const ORIGIN = anOrigin('https://app.example');

function cookieOf(setCookie = ''): { name: string; value: string } {
  const { name, value = '' } = parseSetCookie(setCookie);
  return { name, value };
}

describe.each(['sign-in', 'connect'] as const)('the binding cookie of a %s', (purpose) => {
  const bind = (cookies = {}): BrowserBinding => bindBrowser(ORIGIN, cookies, purpose);

  const isBound = (cookies: Record<string, string>, hash: TokenHash): boolean =>
    isBoundBrowser(ORIGIN, cookies, purpose, hash);

  test('binds what was begun to the browser that has it', () => {
    const { hash, setCookies } = bind();
    const { name, value } = cookieOf(setCookies[0]);

    expect(isBound({ [name]: value }, hash)).toBe(true);
    expect(isBound({ [name]: `${value}x` }, hash)).toBe(false);
    expect(isBound({ [name]: hash }, hash)).toBe(false);
    expect(isBound({ [`${name}x`]: value }, hash)).toBe(false);
    expect(isBound({}, hash)).toBe(false);
  });

  test('cannot be derived from the hash that is kept', () => {
    const { hash, setCookies } = bind();
    const { name, value } = cookieOf(setCookies[0]);
    expect(`${name} ${hash}`).not.toContain(value);
  });

  test('is different each time', () => {
    const names = [1, 2, 3].map(() => cookieOf(bind().setCookies[0]).name);
    expect(new Set(names).size).toBe(3);
  });

  test('is removed by the name that it was set with', () => {
    const { hash, setCookies } = bind();
    const removed = endBinding(ORIGIN, purpose, hash);
    expect(cookieOf(removed)).toEqual({ name: cookieOf(setCookies[0]).name, value: '' });
    expect(removed).toContain('Max-Age=0');
  });

  test('replaces only the oldest cookies when there are too many', () => {
    const ours = Array.from(
      { length: MAX_COOKIES[purpose] + 1 },
      (_, index) => `__Host-gatehouse-${purpose}-${String(index)}`,
    );
    const names = ['theirs', '__Host-gatehouse', ...ours];
    const { setCookies } = bind(Object.fromEntries(names.map((n) => [n, 'x'])));
    const expired = setCookies.filter((text) => text.includes('Max-Age=0'));

    expect(expired.map((text) => cookieOf(text).name)).toEqual(ours.slice(0, 2));
    expect(setCookies).toHaveLength(3);
  });
});

test('the cookie of a sign-in does not bind a connection', () => {
  const { hash, setCookies } = bindBrowser(ORIGIN, {}, 'sign-in');
  const { name, value } = cookieOf(setCookies[0]);
  expect(isBoundBrowser(ORIGIN, { [name]: value }, 'connect', hash)).toBe(false);
});
