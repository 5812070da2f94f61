import { describe, expect, test } from '@jest/globals';

import { identityFromClaims } from '../../../../proxy/identity-provider/identity-from-claims.ts';
import { claimedIdentity, CORP } from '../../../support/claimed-identity.ts';

const ADDRESS = 'ceo@example.com';

describe('The identity in claims', () => {
  test('has the user, and keeps every claim for policies', () => {
    const idToken = { sub: 'u1', email: 'a@example.com', email_verified: true };
    const userInfo = { sub: 'u1', name: 'Ann', groups: ['a', 'b'], org: { unit: 7 } };

    expect(claimedIdentity(idToken, userInfo)).toEqual({
      provider: 'corp',
      issuer: 'https://idp.example',
      subject: 'u1',
      email: 'a@example.com',
      name: 'Ann',
      groups: ['a', 'b'],
      claims: { ...userInfo, ...idToken, iss: 'https://idp.example' },
    });
  });

  test('lacks what the provider does not send', () => {
    expect(claimedIdentity({ sub: 'u1' })).toEqual({
      provider: 'corp',
      issuer: 'https://idp.example',
      subject: 'u1',
      groups: [],
      claims: { sub: 'u1', iss: 'https://idp.example' },
    });
  });

  test('has the issuer of the provider, whatever a source says', () => {
    const { claims } = claimedIdentity({ sub: 'u1' }, { iss: 'https://other.example' });
    expect(claims['iss']).toBe('https://idp.example');
  });

  test('prefers the signed identity token to userinfo', () => {
    expect(claimedIdentity({ sub: 'u1', name: 'Ann' }, { name: 'Bob' }).name).toBe('Ann');
  });

  test.each([7, '', null, ['a']])('has no name or address from %j', (value) => {
    const identity = claimedIdentity({ sub: 'u1', name: value, email: value });
    expect(identity).not.toHaveProperty('name');
    expect(identity).not.toHaveProperty('email');
  });

  test('takes no member of a claim named __proto__ for a claim', () => {
    const idToken = JSON.parse('{ "sub": "u1", "__proto__": { "role": "admin" } }') as {
      readonly sub: string;
    };
    expect(claimedIdentity(idToken).claims['role']).toBeUndefined();
  });
});

describe('An e-mail address', () => {
  test.each([
    ['the identity token', { email: ADDRESS, email_verified: false }, {}],
    ['userinfo', {}, { email: ADDRESS, email_verified: false }],
    ['userinfo, of the identity token’s', { email: ADDRESS }, { email_verified: false }],
    [
      'userinfo, of its own',
      { email: ADDRESS, email_verified: true },
      { email: ADDRESS, email_verified: false },
    ],
    ...['false', 'TRUE', '', 'no', 0, 1, null, {}, [true], []].map(
      (value) => [JSON.stringify(value), { email: ADDRESS, email_verified: value }, {}] as const,
    ),
  ])('that is unverified by %s is dropped', (_case, idToken, userInfo) => {
    const identity = claimedIdentity({ sub: 'u1', ...idToken }, userInfo);

    expect(identity).not.toHaveProperty('email');
    expect(identity.claims).not.toHaveProperty('email');
  });

  test.each([{}, { email_verified: true }, { email_verified: 'true' }])(
    'with %j is kept',
    (claims) => {
      expect(claimedIdentity({ sub: 'u1', email: ADDRESS, ...claims }).email).toBe(ADDRESS);
    },
  );
});

describe('An e-mail address that must be verified', () => {
  const required = { requireVerifiedEmail: true };

  test.each([
    ['nothing says so', { email: ADDRESS }, {}],
    [
      'only another address is verified',
      { email: ADDRESS },
      { email: 'b@x', email_verified: true },
    ],
    [
      'one of two sources denies it',
      { email: ADDRESS, email_verified: true },
      { email_verified: 0 },
    ],
  ])('is dropped if %s', (_case, idToken, userInfo) => {
    const identity = claimedIdentity({ sub: 'u1', ...idToken }, userInfo, required);

    expect(identity).not.toHaveProperty('email');
    expect(identity.claims).not.toHaveProperty('email');
  });

  test.each([
    [{ email: ADDRESS, email_verified: true }, {}],
    [{ email: ADDRESS }, { email: ADDRESS, email_verified: 'true' }],
    [{}, { email: ADDRESS, email_verified: true }],
  ])('is kept with %j and %j', (idToken, userInfo) => {
    expect(claimedIdentity({ sub: 'u1', ...idToken }, userInfo, required).email).toBe(ADDRESS);
  });
});

describe('Groups', () => {
  test.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['a', ['a']],
    ['', []],
    // A directory's name of one group has commas, and brackets may be a part of a name.
    ['CN=staff,OU=groups,DC=example', ['CN=staff,OU=groups,DC=example']],
    ['[EXT] contractors', ['[EXT] contractors']],
    [[], []],
    [undefined, []],
  ])('are read from %j', (groups, expected) => {
    const idToken = { sub: 'u1', ...(groups !== undefined && { groups }) };
    expect(claimedIdentity(idToken).groups).toEqual(expected);
  });

  test.each([null, 7, true, {}, { a: 'b' }, { 0: 'a' }, [7], ['a', 7], ['a', null], ['a', '']])(
    'that are %j refuse the sign-in',
    (groups) => {
      const unusable = { kind: 'unusable', reason: 'groups-unreadable' };
      expect(identityFromClaims(CORP, { sub: 'u1', groups }, {})).toEqual(unusable);
      expect(identityFromClaims(CORP, { sub: 'u1' }, { groups })).toEqual(unusable);
    },
  );

  // Amazon Cognito sends lists of other providers as such a text.
  test.each([
    '[staff, suspended]',
    '["suspended"]',
    '[]',
    ' [a] ',
    '{"suspended":true}',
    '[\n"a"\n]',
  ])('that are a list in a text refuse the sign-in: %j', (groups) => {
    const unusable = { kind: 'unusable', reason: 'groups-unreadable' };
    expect(identityFromClaims(CORP, { sub: 'u1', groups }, {})).toEqual(unusable);
  });

  test('are read from userinfo if the identity token has none', () => {
    expect(claimedIdentity({ sub: 'u1' }, { groups: ['a'] }).groups).toEqual(['a']);
    expect(claimedIdentity({ sub: 'u1', groups: [] }, { groups: ['a'] }).groups).toEqual([]);
  });
});

describe('Groups that a provider leaves out', () => {
  const sources = { src1: { endpoint: 'https://graph.example/users/u1/getMemberObjects' } };

  test.each([
    ['distributed claims', { _claim_names: { groups: 'src1' }, _claim_sources: sources }],
    ['a reference without a source', { _claim_names: { groups: 'src1' } }],
    ['a reference beside some groups', { _claim_names: { groups: 'src1' }, groups: ['a'] }],
    ['a reference to nothing', { _claim_names: { groups: null } }],
    ['hasgroups', { hasgroups: true }],
    ['hasgroups in a string', { hasgroups: 'true' }],
    ['hasgroups beside some groups', { hasgroups: true, groups: ['a'] }],
    ['the claim of implicit flows', { 'groups:src1': 'https://graph.example' }],
  ])('refuse the sign-in: %s', (_case, claims) => {
    const unusable = { kind: 'unusable', reason: 'groups-left-out' };
    expect(identityFromClaims(CORP, { sub: 'u1', ...claims }, {})).toEqual(unusable);
    expect(identityFromClaims(CORP, { sub: 'u1' }, claims)).toEqual(unusable);
    expect(identityFromClaims(CORP, { sub: 'u1', groups: ['a'] }, claims)).toEqual(unusable);
  });

  test('refuse no sign-in if the settings read them from another claim', () => {
    const claims = { _claim_names: { groups: 'src1' }, hasgroups: true, roles: ['a'] };
    const settings = { groupsClaim: ['roles'] };
    expect(claimedIdentity({ sub: 'u1', ...claims }, {}, settings).groups).toEqual(['a']);
  });

  test.each([{ hasgroups: false }, { _claim_names: {} }])('are not meant by %j', (claims) => {
    expect(claimedIdentity({ sub: 'u1', ...claims }).groups).toEqual([]);
  });
});

describe('A claim to which a provider refers', () => {
  const unusable = { kind: 'unusable', reason: 'claims-left-out' };

  test.each([{ department: 'src1' }, { groups_of_last_year: 'src1' }, null, 'src1', ['groups']])(
    'refuses the sign-in: %j',
    (names) => {
      const claims = { _claim_names: names };
      expect(identityFromClaims(CORP, { sub: 'u1', ...claims }, {})).toEqual(unusable);
      expect(identityFromClaims(CORP, { sub: 'u1' }, claims)).toEqual(unusable);
    },
  );

  test('refuses no sign-in if the provider sends it too', () => {
    const claims = { _claim_names: { department: 'src1' } };
    const userInfo = { department: 'legal' };
    expect(claimedIdentity({ sub: 'u1', ...claims }, userInfo).claims).toMatchObject(userInfo);
  });
});

describe('Groups at the path of a claim', () => {
  const settings = { groupsClaim: ['realm_access', 'roles'] };

  test('are read from the member of the claim', () => {
    const claims = { realm_access: { roles: ['a'] }, groups: { not: 'read' } };
    expect(claimedIdentity({ sub: 'u1', ...claims }, {}, settings).groups).toEqual(['a']);
  });

  test('are read from userinfo if the identity token has only the outer claim', () => {
    const idToken = { sub: 'u1', realm_access: { other: 1 } };
    const userInfo = { realm_access: { roles: ['a'] } };
    expect(claimedIdentity(idToken, userInfo, settings).groups).toEqual(['a']);
  });

  test.each<Readonly<Record<string, unknown>>>([
    {},
    { realm_access: {} },
    { realm_access: { a: [] } },
  ])('are none with %j', (claims) => {
    expect(claimedIdentity({ sub: 'u1', ...claims }, {}, settings).groups).toEqual([]);
  });

  test.each([null, 'a', ['a'], 7, { roles: null }, { roles: { a: true } }])(
    'refuse the sign-in if the claim is %j',
    (claim) => {
      const idToken = { sub: 'u1', realm_access: claim };
      expect(identityFromClaims({ ...CORP, ...settings }, idToken, {})).toEqual({
        kind: 'unusable',
        reason: 'groups-unreadable',
      });
    },
  );

  test('refuse the sign-in if the provider refers to the claim', () => {
    const idToken = { sub: 'u1', _claim_names: { realm_access: 'src1' } };
    expect(identityFromClaims({ ...CORP, ...settings }, idToken, {})).toEqual({
      kind: 'unusable',
      reason: 'groups-left-out',
    });
  });

  test('are not inherited members', () => {
    const inherited = { groupsClaim: ['constructor', 'name'] };
    expect(claimedIdentity({ sub: 'u1' }, {}, inherited).groups).toEqual([]);
  });
});
