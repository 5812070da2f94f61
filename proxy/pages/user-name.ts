import type { Identity } from '../records/session.ts';

/** Returns the name by which pages address a user. */
export function userName({ email, name, subject }: Identity): string {
  return email ?? name ?? subject;
}
