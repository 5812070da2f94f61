import type { Identity } from './session.ts';

/** Returns a text that identifies a user: no two users have the same. */
export function userKey({ provider, subject }: Pick<Identity, 'provider' | 'subject'>): string {
  // Names of providers have no space.
  return `${provider} ${subject}`;
}
