import type { Identity } from './session.ts';

/** Returns a text that identifies a user: no two users have the same. */
export function userKey({
  provider,
  issuer = '',
  subject,
}: Pick<Identity, 'provider' | 'issuer' | 'subject'>): string {
  // Names and issuers of providers have no space.
  return `${provider} ${issuer} ${subject}`;
}
