import type { Sealer } from '../../../crypto/sealer.ts';
import type { UserEntry } from '../../../records/user-entry.ts';
import { userKey, type UserReference } from '../../../records/user-key.ts';
import { withEntry, withoutEntries } from '../../user-entries.ts';
import type { UserIndex } from '../../user-index.ts';
import { isListOf, type Guard } from '../records/guards.ts';
import { hashedId, milliseconds, type KeyKind } from '../records/keys.ts';
import type { RedisCommands, RedisScript } from '../connection/redis-commands.ts';
import { integerReply } from '../connection/replies.ts';
import { SealedRecords } from '../records/sealed-records.ts';

/**
 * KEYS: entries. ARGV: entries as they were read, or nothing; new entries, lifetime in milliseconds.
 * Returns 1 if they are kept, else 0.
 */
const KEEP: RedisScript = {
  keyCount: 1,
  lua: `
    if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
    local life = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3]))
    redis.call('SET', KEYS[1], ARGV[2], 'PX', life)
    return 1
  `,
};

/** What users have, for all proxies. */
export class RedisUserIndex<Entry extends UserEntry> implements UserIndex<Entry> {
  readonly #redis: RedisCommands;
  readonly #records: SealedRecords<readonly Entry[]>;

  constructor(
    redis: RedisCommands,
    { sealer, kind, isEntry }: { sealer: Sealer; kind: KeyKind; isEntry: Guard<Entry> },
  ) {
    this.#redis = redis;
    this.#records = new SealedRecords(redis, { sealer, kind, isValue: isListOf(isEntry) });
  }

  async list(user: UserReference): Promise<readonly Entry[]> {
    return (await this.#records.read(idOf(user)))?.value ?? [];
  }

  async keep(user: UserReference, entry: Entry, ttlSeconds: number): Promise<readonly Entry[]> {
    const id = idOf(user);
    const keys = [this.#records.keyOf(id)];
    for (;;) {
      const record = await this.#records.read(id);
      const { entries, dropped } = withEntry(record?.value ?? [], entry);
      const sealed = this.#records.seal(id, entries);
      const args = [record?.sealed ?? '', sealed, milliseconds(ttlSeconds)];
      if (integerReply(await this.#redis.run(KEEP, keys, args)) === 1) return dropped;
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
