import type { UserEntry } from '../../records/user-entry.ts';
import { userKey, type UserReference } from '../../records/user-key.ts';
import { withEntry, withoutEntries } from '../user-entries.ts';
import type { UserIndex } from '../user-index.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** What users have, in one process. */
export class MemoryUserIndex<Entry extends UserEntry> implements UserIndex<Entry> {
  readonly #entries: ExpiringMap<readonly Entry[]>;

  constructor(now: Now) {
    this.#entries = new ExpiringMap(now);
  }

  list(user: UserReference): Promise<readonly Entry[]> {
    return Promise.resolve(this.#entriesOf(user));
  }

  keep(user: UserReference, entry: Entry, ttlSeconds: number): Promise<readonly Entry[]> {
    const key = userKey(user);
    const { entries, dropped } = withEntry(this.#entriesOf(user), entry);
    if (this.#entries.get(key) === null) this.#entries.set(key, entries, ttlSeconds);
    this.#entries.replace(key, entries);
    this.#entries.extend(key, ttlSeconds);
    return Promise.resolve(dropped);
  }

  remove(user: UserReference, ids: readonly string[]): Promise<void> {
    this.#entries.replace(userKey(user), withoutEntries(this.#entriesOf(user), ids));
    return Promise.resolve();
  }

  #entriesOf(user: UserReference): readonly Entry[] {
    return this.#entries.get(userKey(user)) ?? [];
  }
}
