import type { GivenUser } from '../../proxy/explain/claimed-authenticators.ts';
import type { UserDescription } from './request-description.ts';

/** Makes the user of a description without problems. */
export function describeUser({ user, email, groups, claims = {} }: UserDescription): GivenUser {
  const { sub } = claims;
  // The description has one of them.
  const subject = user ?? (typeof sub === 'string' ? sub : email) ?? '';
  const address = email === undefined ? {} : { email, email_verified: true };
  return { claims: { ...claims, ...address, sub: subject }, groups };
}
