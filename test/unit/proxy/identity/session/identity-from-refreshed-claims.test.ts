import { describe, expect, test } from '@jest/globals';

import {
  identityFromRefreshedClaims,
  type IdentityRefresh,
} from '../../../../../proxy/identity/session/identity-from-refreshed-claims.ts';
import { identityFromClaims } from '../../../../../proxy/identity/provider/identity-from-claims.ts';

type Claims = Readonly<Record<string, unknown>>;

const UNKNOWN = { kind: 'over', reason: 'claims-unknown' };

/** After a sign-in with one answer, and a refresh with the other. */
function after(
  before: { readonly idToken?: Claims; readonly userInfo?: Claims },
  { idToken, userInfo }: { readonly idToken?: Claims; readonly userInfo?: Claims },
): IdentityRefresh {
  const ofUser = (claims: Claims | undefined) => claims && { sub: 'u1', ...claims };
  return identityFromRefreshedClaims(
    { idToken: ofUser(idToken), userInfo: ofUser(userInfo) },
    identityFromClaims('corp', { sub: 'u1', ...before.idToken }, before.userInfo ?? {}),
  );
}

function refreshed(claims: Claims): IdentityRefresh {
  const identity = identityFromClaims('corp', { sub: 'u1', ...claims }, {});
  return { kind: 'refreshed', identity };
}

describe('identityAfterRefresh without an ID token', () => {
  test('takes every claim from userinfo, new ones too', () => {
    const userInfo = { name: 'Ann', groups: [], org: { unit: 8 }, roles: null };
    expect(
      after({ userInfo: { name: 'Anna', groups: ['a'], org: { unit: 7 } } }, { userInfo }),
    ).toEqual(refreshed(userInfo));
  });

  test.each(['roles', 'groups', 'name', 'email', 'email_verified', 'org'])(
    'is over when userinfo does not say %s again, whoever said it before',
    (name) => {
      const other = { locale: 'en' };
      const value = { email_verified: true }[name] ?? 'x';
      for (const before of [{ idToken: { [name]: value } }, { userInfo: { [name]: value } }]) {
        expect(
          after({ ...before, idToken: { ...before.idToken, ...other } }, { userInfo: other }),
        ).toEqual(UNKNOWN);
      }
    },
  );

  test('does not ask userinfo for what is about the ID token', () => {
    const idToken = {
      ...{ iss: 'https://idp', aud: 'c', azp: 'c', exp: 9, nbf: 1, iat: 1, jti: 'j', nonce: 'n' },
      ...{ sid: 's', auth_time: 1, acr: '1', amr: ['pwd'], at_hash: 'h', c_hash: 'h', s_hash: 'h' },
    };
    expect(after({ idToken, userInfo: { name: 'Ann' } }, { userInfo: { name: 'Ann' } })).toEqual(
      refreshed({ auth_time: 1, acr: '1', amr: ['pwd'], name: 'Ann' }),
    );
  });

  test('does not miss an address that was unverified', () => {
    const unverified = { email: 'ceo@example.com', email_verified: false };
    const userInfo = { email_verified: false };
    expect(after({ idToken: unverified }, { userInfo })).toEqual(refreshed(userInfo));
  });

  test('drops an address that is unverified by now', () => {
    const userInfo = { email: 'a@example.com', email_verified: false };
    expect(after({ idToken: { ...userInfo, email_verified: true } }, { userInfo })).toEqual(
      refreshed({ email_verified: false }),
    );
  });
});

describe('identityAfterRefresh with an ID token', () => {
  // A policy can allow, or deny, by them.
  test('keeps how the user was authenticated, unless it is said anew', () => {
    const idToken = { acr: 'low', amr: ['pwd'], auth_time: 1 };
    expect(after({ idToken }, { idToken: { acr: 'high' } })).toEqual(
      refreshed({ ...idToken, acr: 'high' }),
    );
  });

  test('takes it and userinfo as all there is to say', () => {
    const before = { idToken: { name: 'Anna', roles: ['admin'] }, userInfo: { org: 7 } };
    expect(
      after(before, { idToken: { name: 'Ann' }, userInfo: { name: 'A.', team: 'x' } }),
    ).toEqual(refreshed({ name: 'Ann', team: 'x' }));
  });

  test.each([{ idToken: { groups: [] } }, { idToken: {}, userInfo: { groups: [] } }])(
    'believes %j that the user is in no group any more',
    (answer) => {
      expect(after({ idToken: { groups: ['a'] } }, answer)).toEqual(refreshed({ groups: [] }));
    },
  );

  test.each([{ idToken: {} }, { idToken: { name: 'Ann' }, userInfo: { name: 'Ann' } }])(
    'is over when a user had groups, and %j does not say a word of them',
    (answer) => {
      expect(after({ userInfo: { groups: ['a'] } }, answer)).toEqual(UNKNOWN);
    },
  );

  test('misses no groups of a user who had none', () => {
    expect(after({ userInfo: { groups: [] } }, { idToken: {} })).toEqual(refreshed({}));
  });
});

describe('identityAfterRefresh', () => {
  test('is over when nobody says anything', () => {
    expect(after({}, {})).toEqual({ kind: 'over', reason: 'no-fresh-identity' });
  });

  test.each([
    { idToken: { sub: 'u2' } },
    { userInfo: { sub: 'u2' } },
    { idToken: {}, userInfo: { sub: 'u2' } },
    { idToken: { sub: 'u2' }, userInfo: {} },
  ])('is over when %j is about another user', (answer) => {
    expect(after({}, answer)).toEqual({ kind: 'over', reason: 'other-subject' });
  });
});
