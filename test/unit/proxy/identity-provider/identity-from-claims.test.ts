import { describe, expect, test } from '@jest/globals';

import { identityFromClaims } from '../../../../proxy/identity-provider/identity-from-claims.ts';

describe('identityFromClaims', () => {
  test('returns the user, and keeps every claim for policies', () => {
    const idToken = { sub: 'u1', email: 'a@example.com', email_verified: true, iss: 'https://idp' };
    const userInfo = { sub: 'u1', name: 'Ann', groups: ['a', 'b'], org: { unit: 7 } };

    expect(identityFromClaims('corp', idToken, userInfo)).toEqual({
      provider: 'corp',
      subject: 'u1',
      email: 'a@example.com',
      name: 'Ann',
      groups: ['a', 'b'],
      claims: { ...userInfo, ...idToken },
    });
  });

  test('leaves out claims that the provider does not send', () => {
    expect(identityFromClaims('corp', { sub: 'u1' }, {})).toEqual({
      provider: 'corp',
      subject: 'u1',
      groups: [],
      claims: { sub: 'u1' },
    });
  });

  test('prefers the signed ID token to userinfo', () => {
    const identity = identityFromClaims('corp', { sub: 'u1', name: 'Ann' }, { name: 'Bob' });
    expect(identity.name).toBe('Ann');
  });

  test.each([
    ['the ID token', { email: 'ceo@example.com', email_verified: false }, {}],
    ['userinfo', {}, { email: 'ceo@example.com', email_verified: false }],
    ['userinfo, of the ID token’s', { email: 'ceo@example.com' }, { email_verified: false }],
    ['the ID token, in a string', { email: 'ceo@example.com', email_verified: 'false' }, {}],
    [
      'userinfo, of its own',
      { email: 'ceo@example.com', email_verified: true },
      { email: 'ceo@example.com', email_verified: false },
    ],
  ])('drops an address that is unverified by %s', (_case, idToken, userInfo) => {
    const identity = identityFromClaims('corp', { sub: 'u1', ...idToken }, userInfo);

    expect(identity).not.toHaveProperty('email');
    expect(identity.claims).not.toHaveProperty('email');
  });

  test.each([{}, { email_verified: true }, { email_verified: 'true' }])(
    'keeps an address with %j',
    (claims) => {
      const idToken = { sub: 'u1', email: 'a@example.com', ...claims };
      expect(identityFromClaims('corp', idToken, {}).email).toBe('a@example.com');
    },
  );

  test.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['a', ['a']],
    ['', []],
    [['a', 7, null, '', { b: 'c' }], ['a']],
    [{ a: 'b' }, []],
    [7, []],
    [undefined, []],
  ])('reads the groups of %j', (groups, expected) => {
    expect(identityFromClaims('corp', { sub: 'u1', groups }, {}).groups).toEqual(expected);
  });

  test.each([7, '', null, ['a']])('reads no name or address from %j', (value) => {
    const identity = identityFromClaims('corp', { sub: 'u1', name: value, email: value }, {});
    expect(identity).not.toHaveProperty('name');
    expect(identity).not.toHaveProperty('email');
  });
});
