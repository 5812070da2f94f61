import type { Sealer } from '../../../crypto/sealer.ts';
import type { SingleUseStore } from '../../single-use-store.ts';
import type { Guard } from '../records/guards.ts';
import { hashedId, type KeyKind } from '../records/keys.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { integerReply } from '../connection/replies.ts';
import { DELETE_IF_EQUAL } from '../connection/scripts.ts';
import { SealedRecords } from '../records/sealed-records.ts';
import type { TokenHash } from '../../../crypto/tokens.ts';

/**
 * Single-use records of all proxies.
 *
 * A proxy opens a record before it deletes the record, so that a proxy without the sealing key leaves
 * it to a proxy that has the key.
 */
export class RedisSingleUseStore<Value, Key extends string = TokenHash> implements SingleUseStore<
  Value,
  Key
> {
  readonly #redis: RedisCommands;
  readonly #records: SealedRecords<Value>;

  constructor(
    redis: RedisCommands,
    options: { sealer: Sealer; kind: KeyKind; isValue: Guard<Value> },
  ) {
    this.#redis = redis;
    this.#records = new SealedRecords(redis, options);
  }

  save(key: Key, value: Value, ttlSeconds: number): Promise<void> {
    return this.#records.save(hashedId(key), value, ttlSeconds);
  }

  async peek(key: Key): Promise<Value | null> {
    return (await this.#records.read(hashedId(key)))?.value ?? null;
  }

  async consume(key: Key): Promise<Value | null> {
    const id = hashedId(key);
    const record = await this.#records.read(id);
    if (record === null) return null;
    const keys = [this.#records.keyOf(id)];
    const isFirst =
      integerReply(await this.#redis.run(DELETE_IF_EQUAL, keys, [record.sealed])) === 1;
    return isFirst ? record.value : null;
  }
}
