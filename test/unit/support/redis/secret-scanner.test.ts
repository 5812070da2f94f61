import { describe, expect, test } from '@jest/globals';

import { formsOf } from '../../../support/redis/suite/secret-forms.ts';
import { SecretScanner } from '../../../support/redis/suite/secret-scanner.ts';

const SECRET = 'pä ss/"wörd"+8~=?';

const scanner = new SecretScanner([
  { kind: 'password', value: SECRET },
  { kind: 'code', value: 'a1b2c3d4' },
  { kind: 'login', value: 'alice' },
]);

function kindsIn(text: string): readonly string[] {
  return [...new Set(scanner.scan(text).map(({ kind }) => kind))];
}

describe('The scanner for secrets', () => {
  test.each<readonly [form: string, text: string]>([
    ['as it is', SECRET],
    ['inside more text', `before ${SECRET} after`],
    ['in JSON', JSON.stringify({ value: SECRET })],
    ['in JSON in JSON', JSON.stringify({ value: JSON.stringify({ value: SECRET }) })],
    ['percent-encoded', encodeURIComponent(SECRET)],
    ['percent-encoded with small letters', encodeURIComponent(SECRET).toLowerCase()],
    ['in a form', new URLSearchParams({ value: SECRET }).toString()],
    ['in hex', Buffer.from(SECRET).toString('hex')],
    ['in hex with capitals', Buffer.from(SECRET).toString('hex').toUpperCase()],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['in base64url', Buffer.from(SECRET).toString('base64url')],
    ['in the base64 of one byte more', Buffer.from(`.${SECRET}.`).toString('base64')],
    ['in the base64 of two bytes more', Buffer.from(`..${SECRET}..`).toString('base64url')],
    ['in the base64 of JSON', Buffer.from(`{"a":1,"b":"${SECRET}"}`).toString('base64')],
  ])('finds one %s', (_, text) => {
    expect(kindsIn(text)).toContain('password');
  });

  test('finds every secret of a text, and shows what is around it', () => {
    const findings = scanner.scan(`x a1b2c3d4 y ${SECRET} z`);
    expect(findings.map(({ kind }) => kind)).toEqual(['code', 'password']);
    expect(findings[0]?.excerpt).toContain('x a1b2c3d4 y');
  });

  test('does not take a part of a secret, or another text, for one', () => {
    expect(kindsIn(`a1b2c3d ${SECRET.slice(0, -1)} 1b2c3d4`)).toEqual([]);
  });

  test('leaves out values that are too short to mean something, and does not count them', () => {
    expect(kindsIn('user alice')).toEqual([]);
    expect(scanner.size).toBe(2);
  });

  test.each<readonly [kind: string, text: string]>([
    ['an external token', 'token:gte_0123456789abcdef'],
    ['a refresh token', '"gtr_0123456789abcdef"'],
    ['a JWT', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.'],
    ['an e-mail address', 'consent:alice@example.com'],
    ['an e-mail address', '"Erin@Example.COM"'],
    ['an e-mail address', 'login_hint=alice%40example.com'],
    ['a PEM block', '-----BEGIN PRIVATE KEY-----'],
  ])('finds %s that nobody named: %s', (kind, text) => {
    expect(kindsIn(text)).toEqual([kind]);
  });

  test('does not take sealed text for a token', () => {
    expect(kindsIn('Zm9vYmFyZ3gte_0123456789abcdef')).toEqual([]);
  });
});

test('every form of a secret is long enough to be looked up by how it begins', () => {
  for (const form of formsOf('a1b2c3d4')) expect(form.length).toBeGreaterThanOrEqual(8);
});
