import { describe, expect, test } from '@jest/globals';

import { parseSetCookie } from 'cookie';

import {
  bindBrowser,
  isBoundBrowser,
} from '../../../../../proxy/identity/sign-in/sign-in-cookies.ts';
import { anOrigin } from '../../../../support/an-origin.ts';

const ORIGIN = anOrigin('https://app.example');

function cookieOf(setCookie = ''): { name: string; value: string } {
  const { name, value = '' } = parseSetCookie(setCookie);
  return { name, value };
}

describe('the cookie of a sign-in', () => {
  test('binds the sign-in to the browser that has it', () => {
    const { hash, setCookies } = bindBrowser(ORIGIN, {});
    const { name, value } = cookieOf(setCookies[0]);

    expect(isBoundBrowser(ORIGIN, { [name]: value }, hash)).toBe(true);
    expect(isBoundBrowser(ORIGIN, { [name]: `${value}x` }, hash)).toBe(false);
    expect(isBoundBrowser(ORIGIN, { [name]: hash }, hash)).toBe(false);
    expect(isBoundBrowser(ORIGIN, { [`${name}x`]: value }, hash)).toBe(false);
    expect(isBoundBrowser(ORIGIN, {}, hash)).toBe(false);
  });

  test('cannot be derived from the hash that is kept', () => {
    const { hash, setCookies } = bindBrowser(ORIGIN, {});
    const { name, value } = cookieOf(setCookies[0]);
    expect(`${name} ${hash}`).not.toContain(value);
  });

  test('is different for each sign-in', () => {
    const names = [1, 2, 3].map(() => cookieOf(bindBrowser(ORIGIN, {}).setCookies[0]).name);
    expect(new Set(names).size).toBe(3);
  });

  test('replaces only the oldest cookies when there are too many', () => {
    const ours = Array.from(
      { length: 25 },
      (_, index) => `__Host-gatehouse-sign-in-${String(index)}`,
    );
    const names = ['theirs', '__Host-gatehouse', ...ours];
    const { setCookies } = bindBrowser(ORIGIN, Object.fromEntries(names.map((n) => [n, 'x'])));
    const expired = setCookies.filter((text) => text.includes('Max-Age=0'));

    expect(expired.map((text) => cookieOf(text).name)).toEqual(ours.slice(0, 2));
    expect(setCookies).toHaveLength(3);
  });
});
