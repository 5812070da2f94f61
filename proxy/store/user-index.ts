import type { UserEntry } from '../records/user-entry.ts';
import type { UserReference } from '../records/user-key.ts';

/** Entries of one user beyond which the oldest has to go. */
export const MAX_USER_ENTRIES = 300;

/**
 * What each user has, for pages that list all of it, and to end all of it. An entry may be of a record that is
 * gone, so readers look at each.
 */
export interface UserIndex<Entry extends UserEntry> {
  /** Oldest first. */
  list(user: UserReference): Promise<readonly Entry[]>;
  /**
   * Adds an entry, or replaces the one with its id, and keeps all for at least `ttlSeconds` from now. Returns
   * the entries that had to go, because a user has at most `MAX_USER_ENTRIES`: the caller ends their records,
   * or nobody could find them to end them.
   */
  keep(user: UserReference, entry: Entry, ttlSeconds: number): Promise<readonly Entry[]>;
  /** Removes the entries with these ids. */
  remove(user: UserReference, ids: readonly string[]): Promise<void>;
}
