import {
  DEFAULT_GROUPS_PATH,
  groupsInClaims,
  type SourceClaims,
} from '../../identity-provider/groups-in-claims.ts';
import {
  identityFromClaims,
  type ClaimSettings,
} from '../../identity-provider/identity-from-claims.ts';
import { withUnknownGroups } from '../../identity-provider/unknown-groups.ts';
import type { Identity } from '../../records/session.ts';

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** The claims that the provider returned at a refresh; each source may be missing. */
export interface RefreshedClaims {
  readonly idToken: Claims | undefined;
  readonly userInfo: Claims | undefined;
  /** Groups that the provider left out of the claims, if they were looked up. */
  readonly lookedUp?: readonly string[] | undefined;
}

/** The sign-in is over: the provider refused to refresh it, or did not confirm the user's identity. */
export interface SignInOver {
  readonly kind: 'over';
  readonly reason: string;
}

/** The result of a refresh. */
export type IdentityRefresh =
  { readonly kind: 'refreshed'; readonly identity: Identity } | SignInOver;

/** Claims about how the user was authenticated at the sign-in, which no refresh changes. */
const CLAIMS_OF_THE_SIGN_IN = ['auth_time', 'acr', 'amr'];

/** Claims about the identity token or the authentication, not about the user. Userinfo never has them. */
const CLAIMS_OF_THE_PROTOCOL: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'azp', 'exp', 'nbf', 'iat', 'jti', 'nonce', 'sid'],
  ...['at_hash', 'c_hash', 's_hash', ...CLAIMS_OF_THE_SIGN_IN],
]);

/**
 * Returns the identity of a user after a refresh, from the refreshed claims alone: an earlier claim may
 * have been withdrawn since. Only claims about how the user was authenticated are kept if they are not
 * repeated.
 *
 * A claim must not get lost because the provider did not repeat it: a policy may deny by that claim. An ID
 * token and userinfo together count as complete, as at the sign-in, except for groups: many providers have
 * groups in the first identity token only. Userinfo alone must repeat every earlier claim. Claims from which no
 * identity can be made end the sign-in: neither the earlier groups nor none are the user's.
 */
export function identityFromRefreshedClaims(
  { idToken, userInfo, lookedUp }: RefreshedClaims,
  before: Identity,
  settings: ClaimSettings,
): IdentityRefresh {
  const said = idToken ?? userInfo;
  if (said === undefined) return over('no-fresh-identity');
  // OpenID Connect Core, sections 5.3.2 and 12.2: it must be the same user.
  const subjects = [said.sub, userInfo?.sub ?? said.sub];
  if (subjects.some((sub) => sub !== before.subject)) return over('other-subject');
  const claims = { ...userInfo, ...idToken };
  const expected = idToken === undefined ? claimsOfTheUser(before) : [];
  const [groupsClaim] = settings.groupsClaim ?? DEFAULT_GROUPS_PATH;
  const isLookedUp = (name: string): boolean => lookedUp !== undefined && name === groupsClaim;
  const isKnown = (name: string): boolean => Object.hasOwn(claims, name) || isLookedUp(name);
  if (!expected.every(isKnown)) return over('claims-unknown');
  const sources = [idToken ?? {}, userInfo ?? {}];
  const { kind } = groupsInClaims(sources, settings.groupsClaim);
  if (kind === 'absent' && before.groups.length > 0) return over('claims-unknown');
  const authenticated = { ...claimsOfTheSignIn(before), ...said };
  const claimed = identityFromClaims(settings, authenticated, userInfo ?? {}, lookedUp);
  if (claimed.kind === 'unusable') return over(claimed.reason);
  const identity = withFormerDoubt(claimed.identity, before, sources, settings);
  return { kind: 'refreshed', identity };
}

/** A renewal has the scopes of the sign-in, so groups that were unknown stay so until they are named. */
function withFormerDoubt(
  identity: Identity,
  before: Identity,
  sources: readonly SourceClaims[],
  settings: ClaimSettings,
): Identity {
  if (before.groupsAreUnknown !== true) return identity;
  return withUnknownGroups(identity, sources, settings);
}

function claimsOfTheSignIn({ claims }: Identity): Readonly<Record<string, unknown>> {
  const entries = Object.entries(claims);
  return Object.fromEntries(entries.filter(([name]) => CLAIMS_OF_THE_SIGN_IN.includes(name)));
}

function claimsOfTheUser({ claims }: Identity): readonly string[] {
  return Object.keys(claims).filter((name) => !CLAIMS_OF_THE_PROTOCOL.has(name));
}

function over(reason: string): SignInOver {
  return { kind: 'over', reason };
}
