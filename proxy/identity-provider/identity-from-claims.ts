import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';
import { member } from '../json/json-object.ts';
import type { Identity } from '../records/session.ts';
import {
  DEFAULT_GROUPS_PATH,
  groupsInClaims,
  refersToOtherClaims,
  type SourceClaims,
} from './groups-in-claims.ts';

/** The settings that say how to read the claims of a provider. */
export type ClaimSettings = Pick<
  CompiledIdentityProvider,
  'name' | 'issuer' | 'groupsClaim' | 'groupsLookup' | 'requireVerifiedEmail'
>;

/** Why no identity can be made from claims: policies would decide without a part of it. */
export type UnusableClaims = 'groups-left-out' | 'groups-unreadable' | 'claims-left-out';

/** The identity in the claims of a user. */
export type ClaimedIdentity =
  | { readonly kind: 'identity'; readonly identity: Identity }
  | { readonly kind: 'unusable'; readonly reason: UnusableClaims };

/**
 * Returns the identity of a user from the claims of the identity token and of userinfo. If both have a claim,
 * the one of the identity token counts: it is signed.
 *
 * An email address that is not verified is dropped, from `claims` too. Attack: at some providers anyone
 * can enter the address of another user, and policies trust it (OpenID Connect Core, section 5.7).
 *
 * `iss` is always the provider's issuer. Attack: policies tell users of several providers apart by it, and not
 * every source must have the right one, as the identity token must: userinfo could name another provider's.
 *
 * `lookedUp` are the groups of a user whose provider left them out of the claims.
 */
export function identityFromClaims(
  settings: ClaimSettings,
  idToken: SourceClaims & { readonly sub: string },
  userInfo: SourceClaims,
  lookedUp?: readonly string[],
): ClaimedIdentity {
  const sources = [idToken, userInfo];
  const found =
    lookedUp === undefined
      ? groupsInClaims(sources, settings.groupsClaim)
      : { kind: 'groups' as const, groups: lookedUp };
  if (found.kind === 'left-out') return { kind: 'unusable', reason: 'groups-left-out' };
  if (found.kind === 'unreadable') return { kind: 'unusable', reason: 'groups-unreadable' };
  if (refersToOtherClaims(sources, settings.groupsClaim)) {
    return { kind: 'unusable', reason: 'claims-left-out' };
  }
  const groups = found.kind === 'groups' ? found.groups : [];
  const identity = identityOf(settings, groups, { idToken, userInfo });
  if (lookedUp === undefined) return { kind: 'identity', identity };
  const claims = withGroups(identity.claims, settings.groupsClaim ?? DEFAULT_GROUPS_PATH, groups);
  return { kind: 'identity', identity: { ...identity, claims } };
}

/** Puts groups where the provider would have sent them, for policies that read the claim itself. */
function withGroups(
  claims: SourceClaims,
  [name = '', ...rest]: readonly string[],
  groups: readonly string[],
): SourceClaims {
  if (rest.length === 0) return { ...claims, [name]: groups };
  const inner = member(claims, name);
  return { ...claims, [name]: withGroups(isRecord(inner) ? inner : {}, rest, groups) };
}

interface IdentitySources {
  readonly idToken: SourceClaims & { readonly sub: string };
  readonly userInfo: SourceClaims;
}

function identityOf(
  { name: provider, issuer, requireVerifiedEmail = false }: ClaimSettings,
  groups: readonly string[],
  { idToken, userInfo }: IdentitySources,
): Identity {
  const merged: SourceClaims = { ...userInfo, ...idToken, iss: issuer };
  const { email, ...others } = merged;
  const isDropped = !isVerified(email, [idToken, userInfo], requireVerifiedEmail);
  const claims = email === undefined || isDropped ? others : { ...others, email };
  const name = textOf(others['name']);
  const address = isDropped ? undefined : textOf(email);
  return {
    provider,
    issuer,
    subject: idToken.sub,
    ...(address === undefined ? {} : { email: address }),
    ...(name === undefined ? {} : { name }),
    groups,
    claims,
  };
}

/**
 * Returns whether every source that says something about the address calls it verified. If that is
 * required, one source must say it of this very address.
 */
function isVerified(
  email: unknown,
  sources: readonly SourceClaims[],
  mustBeSaid: boolean,
): boolean {
  const statements = sources.filter((source) => Object.hasOwn(source, 'email_verified'));
  if (!statements.every(saysVerified)) return false;
  return !mustBeSaid || statements.some((source) => source['email'] === email);
}

/** Some providers send booleans as strings. */
function saysVerified({ email_verified: verified }: SourceClaims): boolean {
  return verified === true || verified === 'true';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
