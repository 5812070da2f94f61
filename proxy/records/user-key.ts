import type { Identity } from './session.ts';

/** What identifies a user over all sign-ins. */
export type UserReference = Pick<Identity, 'provider' | 'issuer' | 'subject'>;

/** Returns what identifies a user, without what else is known of them. */
export function userReference({ provider, issuer, subject }: UserReference): UserReference {
  return { provider, ...(issuer !== undefined && { issuer }), subject };
}

/** Returns a text that identifies a user: no two users have the same. */
export function userKey({ provider, issuer = '', subject }: UserReference): string {
  // Names and issuers of providers have no space.
  return `${provider} ${issuer} ${subject}`;
}
