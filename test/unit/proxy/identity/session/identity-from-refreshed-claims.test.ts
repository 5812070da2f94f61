import { describe, expect, test } from '@jest/globals';

import {
  identityFromRefreshedClaims,
  type IdentityRefresh,
} from '../../../../../proxy/identity/session/identity-from-refreshed-claims.ts';
import { claimedIdentity, CORP } from '../../../../support/claimed-identity.ts';

type Claims = Readonly<Record<string, unknown>>;

const UNKNOWN = { kind: 'over', reason: 'claims-unknown' };

/** The result of a refresh with the second response, after a sign-in with the first. */
function after(
  before: { readonly idToken?: Claims; readonly userInfo?: Claims },
  { idToken, userInfo }: { readonly idToken?: Claims; readonly userInfo?: Claims },
): IdentityRefresh {
  const ofUser = (claims: Claims | undefined) => claims && { sub: 'u1', ...claims };
  return identityFromRefreshedClaims(
    { idToken: ofUser(idToken), userInfo: ofUser(userInfo) },
    claimedIdentity({ sub: 'u1', ...before.idToken }, before.userInfo ?? {}),
    CORP,
  );
}

function refreshed(claims: Claims): IdentityRefresh {
  const identity = claimedIdentity({ sub: 'u1', ...claims });
  return { kind: 'refreshed', identity };
}

describe('identityFromRefreshedClaims without an identity token', () => {
  test('reads every claim from userinfo, new ones too', () => {
    const userInfo = { name: 'Ann', groups: [], org: { unit: 8 }, roles: null };
    expect(
      after({ userInfo: { name: 'Anna', groups: ['a'], org: { unit: 7 } } }, { userInfo }),
    ).toEqual(refreshed(userInfo));
  });

  test.each(['roles', 'groups', 'name', 'email', 'email_verified', 'org'])(
    'ends the sign-in when userinfo does not repeat %s',
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

  test('does not expect claims about the identity token in userinfo', () => {
    const idToken = {
      ...{ iss: 'https://idp', aud: 'c', azp: 'c', exp: 9, nbf: 1, iat: 1, jti: 'j', nonce: 'n' },
      ...{ sid: 's', auth_time: 1, acr: '1', amr: ['pwd'], at_hash: 'h', c_hash: 'h', s_hash: 'h' },
    };
    expect(after({ idToken, userInfo: { name: 'Ann' } }, { userInfo: { name: 'Ann' } })).toEqual(
      refreshed({ auth_time: 1, acr: '1', amr: ['pwd'], name: 'Ann' }),
    );
  });

  test('does not expect an address that was unverified', () => {
    const unverified = { email: 'ceo@example.com', email_verified: false };
    const userInfo = { email_verified: false };
    expect(after({ idToken: unverified }, { userInfo })).toEqual(refreshed(userInfo));
  });

  test('drops an address that has become unverified', () => {
    const userInfo = { email: 'a@example.com', email_verified: false };
    expect(after({ idToken: { ...userInfo, email_verified: true } }, { userInfo })).toEqual(
      refreshed({ email_verified: false }),
    );
  });
});

describe('identityFromRefreshedClaims with an identity token', () => {
  // A policy can allow, or deny, by them.
  test('keeps how the user was authenticated, unless it is sent again', () => {
    const idToken = { acr: 'low', amr: ['pwd'], auth_time: 1 };
    expect(after({ idToken }, { idToken: { acr: 'high' } })).toEqual(
      refreshed({ ...idToken, acr: 'high' }),
    );
  });

  test('drops claims that neither it nor userinfo has', () => {
    const before = { idToken: { name: 'Anna', roles: ['admin'] }, userInfo: { org: 7 } };
    expect(
      after(before, { idToken: { name: 'Ann' }, userInfo: { name: 'A.', team: 'x' } }),
    ).toEqual(refreshed({ name: 'Ann', team: 'x' }));
  });

  test.each([{ idToken: { groups: [] } }, { idToken: {}, userInfo: { groups: [] } }])(
    'removes the user from every group by %j',
    (answer) => {
      expect(after({ idToken: { groups: ['a'] } }, answer)).toEqual(refreshed({ groups: [] }));
    },
  );

  test.each([{ idToken: {} }, { idToken: { name: 'Ann' }, userInfo: { name: 'Ann' } }])(
    'ends the sign-in when a user had groups and %j has none',
    (answer) => {
      expect(after({ userInfo: { groups: ['a'] } }, answer)).toEqual(UNKNOWN);
    },
  );

  test('does not expect groups of a user who had none', () => {
    expect(after({ userInfo: { groups: [] } }, { idToken: {} })).toEqual(refreshed({}));
  });
});

describe('identityFromRefreshedClaims of a user whose groups are unknown', () => {
  const before = { ...claimedIdentity({ sub: 'u1' }), groupsAreUnknown: true } as const;
  const refreshedWith = (claims: Claims): IdentityRefresh => {
    const idToken = { sub: 'u1', ...claims };
    return identityFromRefreshedClaims({ idToken, userInfo: undefined }, before, CORP);
  };

  test('does not know them as long as nobody names them', () => {
    expect(refreshedWith({})).toMatchObject({ identity: { groups: [], groupsAreUnknown: true } });
  });

  test('knows them when they are named', () => {
    expect(refreshedWith({ groups: ['a'] })).toEqual(refreshed({ groups: ['a'] }));
  });
});

describe('identityFromRefreshedClaims', () => {
  test('ends the sign-in when there are no claims', () => {
    expect(after({}, {})).toEqual({ kind: 'over', reason: 'no-fresh-identity' });
  });

  test.each([
    { idToken: { sub: 'u2' } },
    { userInfo: { sub: 'u2' } },
    { idToken: {}, userInfo: { sub: 'u2' } },
    { idToken: { sub: 'u2' }, userInfo: {} },
  ])('ends the sign-in when %j is about another user', (answer) => {
    expect(after({}, answer)).toEqual({ kind: 'over', reason: 'other-subject' });
  });
});
