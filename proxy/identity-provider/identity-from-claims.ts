import type { Identity } from '../records/session.ts';

type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns the identity of a user from the claims of the ID token and of userinfo. If both have a claim,
 * the one of the ID token counts: it is signed.
 *
 * An email address that either calls unverified is dropped, from `claims` too. Attack: at some providers
 * anyone can enter the address of another user, and policies trust it (OpenID Connect Core, section 5.7).
 */
export function identityFromClaims(
  provider: string,
  idToken: Claims & { readonly sub: string },
  userInfo: Claims,
): Identity {
  const { email, ...others } = { ...userInfo, ...idToken };
  const isUnverified = [idToken, userInfo].some(saysUnverified);
  const claims = email === undefined || isUnverified ? others : { ...others, email };
  const name = textOf(others['name']);
  const address = isUnverified ? undefined : textOf(email);
  return {
    provider,
    subject: idToken.sub,
    ...(address === undefined ? {} : { email: address }),
    ...(name === undefined ? {} : { name }),
    groups: groupsOf(others['groups']),
    claims,
  };
}

/** Some providers send booleans as strings. */
function saysUnverified({ email_verified: verified }: Claims): boolean {
  return verified === false || verified === 'false';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function groupsOf(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((group) => typeof group === 'string' && group !== '') as string[];
}
