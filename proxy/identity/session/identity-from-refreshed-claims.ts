import { identityFromClaims } from '../provider/identity-from-claims.ts';
import type { Identity } from '../../records/session.ts';

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** What the provider said at a refresh; each part may be missing. */
export interface RefreshedClaims {
  readonly idToken: Claims | undefined;
  readonly userInfo: Claims | undefined;
}

/** The provider does not vouch for the user any more, or not for who the user is. */
export interface SignInOver {
  readonly kind: 'over';
  readonly reason: string;
}

export type IdentityRefresh =
  { readonly kind: 'refreshed'; readonly identity: Identity } | SignInOver;

/** How the user was authenticated at the sign-in, which no refresh changes. */
const CLAIMS_OF_THE_SIGN_IN = ['auth_time', 'acr', 'amr'];

/** Claims about the ID token or the authentication, not about the user. Userinfo never has them. */
const CLAIMS_OF_THE_PROTOCOL: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'azp', 'exp', 'nbf', 'iat', 'jti', 'nonce', 'sid'],
  ...['at_hash', 'c_hash', 's_hash', ...CLAIMS_OF_THE_SIGN_IN],
]);

/**
 * Says who the user is after a refresh, from what the provider said at it alone: a claim of before
 * may have been taken away since. Only how the user was authenticated is kept where it is not repeated.
 *
 * Nor may one be lost that the provider only did not repeat, for a policy can deny by it. An ID token
 * and userinfo together are a whole statement, as at the sign-in, but for groups: many providers have
 * those in the first ID token only. Userinfo alone has to say again whatever was said before.
 */
export function identityFromRefreshedClaims(
  { idToken, userInfo }: RefreshedClaims,
  before: Identity,
): IdentityRefresh {
  const said = idToken ?? userInfo;
  if (said === undefined) return over('no-fresh-identity');
  // OpenID Connect Core, sections 5.3.2 and 12.2: it must be the user who signed in.
  const subjects = [said.sub, userInfo?.sub ?? said.sub];
  if (subjects.some((sub) => sub !== before.subject)) return over('other-subject');
  const claims = { ...userInfo, ...idToken };
  const expected = idToken === undefined ? claimsOfTheUser(before) : groupsOf(before);
  if (!expected.every((name) => Object.hasOwn(claims, name))) return over('claims-unknown');
  const authenticated = { ...claimsOfTheSignIn(before), ...said };
  return {
    kind: 'refreshed',
    identity: identityFromClaims(before.provider, authenticated, userInfo ?? {}),
  };
}

function claimsOfTheSignIn({ claims }: Identity): Readonly<Record<string, unknown>> {
  const entries = Object.entries(claims);
  return Object.fromEntries(entries.filter(([name]) => CLAIMS_OF_THE_SIGN_IN.includes(name)));
}

function claimsOfTheUser({ claims }: Identity): readonly string[] {
  return Object.keys(claims).filter((name) => !CLAIMS_OF_THE_PROTOCOL.has(name));
}

function groupsOf({ groups }: Identity): readonly string[] {
  return groups.length > 0 ? ['groups'] : [];
}

function over(reason: string): SignInOver {
  return { kind: 'over', reason };
}
