import type { Sealer } from '../../../crypto/sealer.ts';
import type { Grant } from '../../../records/grant.ts';
import type { RegisteredClient } from '../../../records/registered-client.ts';
import type { SignInRecord } from '../../../records/sign-in-record.ts';
import type { UserReference } from '../../../records/user-key.ts';
import type { UserIndex } from '../../user-index.ts';
import type { UserEntry } from '../../../records/user-entry.ts';
import type { VersionedSignIn } from '../../sign-in-store.ts';
import type { RedisScanning } from '../connection/redis-commands.ts';
import { integerReply } from '../connection/replies.ts';
import { idOfKey, keyPattern, type KeyKind } from '../records/keys.ts';
import { isGrant, isRegisteredClient, isVersionedSignIn } from '../records/record-guards.ts';
import { SealedRecords } from '../records/sealed-records.ts';
import { UnreadableRecordError } from '../records/unreadable-record-error.ts';
import type { Guard } from '../records/guards.ts';
import { isUserEntry } from '../records/upstream-record-guards.ts';
import { RedisUserIndex } from './redis-user-index.ts';

/** A record, and how long it will be kept, in milliseconds. */
export interface KeptRecord<Value> {
  readonly value: Value;
  readonly remainingMs: number;
}

/** Some records, and the number of those that the sealing keys do not open. */
export interface InventoryPage<Value> {
  readonly records: readonly KeptRecord<Value>[];
  readonly unreadable: number;
}

/**
 * Everything that users and clients have, for operators. No request of a client may iterate over all keys.
 *
 * Iterations have every record that exists from their beginning to their end, some more than once.
 */
export class RedisInventory {
  readonly #redis: RedisScanning;
  readonly #sealer: Sealer;
  readonly #grantsOfUsers: UserIndex<UserEntry>;
  readonly #grants: SealedRecords<Grant>;

  constructor(redis: RedisScanning, sealer: Sealer) {
    this.#redis = redis;
    this.#sealer = sealer;
    this.#grantsOfUsers = new RedisUserIndex(redis, {
      sealer,
      kind: 'user-grants',
      isEntry: isUserEntry,
    });
    this.#grants = new SealedRecords(redis, { sealer, kind: 'grant', isValue: isGrant });
  }

  /** Every sign-in. */
  async *signIns(): AsyncGenerator<InventoryPage<SignInRecord>, void> {
    for await (const page of this.#all<VersionedSignIn>('sign-in', isVersionedSignIn)) {
      const records = page.records.map(({ value, remainingMs }) => ({
        value: value.signIn,
        remainingMs,
      }));
      yield { ...page, records };
    }
  }

  /** Every client that registered itself. */
  clients(): AsyncGenerator<InventoryPage<RegisteredClient>, void> {
    return this.#all('client', isRegisteredClient);
  }

  /** The grants of a user. Their list counts as one record if it does not open. */
  async grantsOf(user: UserReference): Promise<InventoryPage<Grant>> {
    const entries = await this.#grantsOfUsers.list(user).catch(asUnreadable);
    if (entries === 'unreadable') return { records: [], unreadable: 1 };
    return this.#page(
      this.#grants,
      entries.map(({ id }) => id),
    );
  }

  async *#all<Value>(
    kind: KeyKind,
    isValue: Guard<Value>,
  ): AsyncGenerator<InventoryPage<Value>, void> {
    const records = new SealedRecords(this.#redis, { sealer: this.#sealer, kind, isValue });
    for await (const keys of this.#redis.scan(keyPattern(this.#redis, kind))) {
      const ids = keys.map((key) => idOfKey(this.#redis, kind, key));
      yield await this.#page(
        records,
        ids.filter((id) => id !== undefined),
      );
    }
  }

  async #page<Value>(
    records: SealedRecords<Value>,
    ids: readonly string[],
  ): Promise<InventoryPage<Value>> {
    const read = await Promise.all(ids.map((id) => this.#read(records, id)));
    return {
      records: read.filter((record) => record !== null && record !== 'unreadable'),
      unreadable: read.filter((record) => record === 'unreadable').length,
    };
  }

  async #read<Value>(
    records: SealedRecords<Value>,
    id: string,
  ): Promise<KeptRecord<Value> | 'unreadable' | null> {
    try {
      const [record, life] = await Promise.all([
        records.read(id),
        this.#redis.send('PTTL', records.keyOf(id)),
      ]);
      return record && { value: record.value, remainingMs: Math.max(0, integerReply(life)) };
    } catch (error) {
      return asUnreadable(error);
    }
  }
}

/** Rethrows every other error. */
function asUnreadable(error: unknown): 'unreadable' {
  if (error instanceof UnreadableRecordError) return 'unreadable';
  throw error;
}
