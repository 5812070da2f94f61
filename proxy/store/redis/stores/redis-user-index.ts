import type { Sealer } from '../../../crypto/sealer.ts';
import type { UserEntry } from '../../../records/user-entry.ts';
import { userKey, type UserReference } from '../../../records/user-key.ts';
import { withEntry, withoutEntries } from '../../user-entries.ts';
import type { UserIndex } from '../../user-index.ts';
import { isListOf, type Guard } from '../records/guards.ts';
import { hashedId, type KeyKind } from '../records/keys.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { SealedRecords } from '../records/sealed-records.ts';

/** What users have, for all proxies. */
export class RedisUserIndex<Entry extends UserEntry> implements UserIndex<Entry> {
  readonly #records: SealedRecords<readonly Entry[]>;

  constructor(
    redis: RedisCommands,
    { sealer, kind, isEntry }: { sealer: Sealer; kind: KeyKind; isEntry: Guard<Entry> },
  ) {
    this.#records = new SealedRecords(redis, { sealer, kind, isValue: isListOf(isEntry) });
  }

  async list(user: UserReference): Promise<readonly Entry[]> {
    return (await this.#records.read(idOf(user)))?.value ?? [];
  }

  async keep(user: UserReference, entry: Entry, ttlSeconds: number): Promise<readonly Entry[]> {
    const id = idOf(user);
    for (;;) {
      const record = await this.#records.read(id);
      const { entries, dropped } = withEntry(record?.value ?? [], entry);
      if (await this.#records.replaceAndExtend(id, record, entries, ttlSeconds)) return dropped;
    }
  }

  async remove(user: UserReference, ids: readonly string[]): Promise<void> {
    const id = idOf(user);
    for (;;) {
      const record = await this.#records.read(id);
      if (record === null) return;
      const rest = withoutEntries(record.value, ids);
      if (await this.#records.replace(id, record, rest)) return;
    }
  }
}

function idOf(user: UserReference): string {
  return hashedId(userKey(user));
}
