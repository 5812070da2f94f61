import type { UserEntry } from '../records/user-entry.ts';
import { MAX_USER_ENTRIES } from './user-index.ts';

/** Entries of a user, oldest first, and those that had to go. */
export interface KeptEntries<Entry> {
  readonly entries: readonly Entry[];
  readonly dropped: readonly Entry[];
}

/** Adds an entry as the youngest, in place of the one with its id. */
export function withEntry<Entry extends UserEntry>(
  entries: readonly Entry[],
  entry: Entry,
): KeptEntries<Entry> {
  const all = [...withoutEntries(entries, [entry.id]), entry];
  const surplus = Math.max(0, all.length - MAX_USER_ENTRIES);
  return { entries: all.slice(surplus), dropped: all.slice(0, surplus) };
}

/** Leaves out the entries with these ids. */
export function withoutEntries<Entry extends UserEntry>(
  entries: readonly Entry[],
  ids: readonly string[],
): readonly Entry[] {
  return entries.filter(({ id }) => !ids.includes(id));
}
