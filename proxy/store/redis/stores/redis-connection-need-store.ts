import type { Sealer } from '../../../crypto/sealer.ts';
import type { ConnectionNeed } from '../../../records/connection-need.ts';
import { internalTokenId, type InternalTokenKey } from '../../../records/internal-token.ts';
import type { ConnectionNeedStore } from '../../connection-need-store.ts';
import { keyOf, milliseconds } from '../records/keys.ts';
import { isConnectionNeed } from '../records/upstream-record-guards.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { SealedRecords } from '../records/sealed-records.ts';

/** Who must connect again, for all proxies. */
export class RedisConnectionNeedStore implements ConnectionNeedStore {
  readonly #redis: RedisCommands;
  readonly #records: SealedRecords<ConnectionNeed>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#redis = redis;
    this.#records = new SealedRecords(redis, {
      sealer,
      kind: 'connection-need',
      isValue: isConnectionNeed,
    });
  }

  async get(key: InternalTokenKey): Promise<ConnectionNeed | null> {
    return (await this.#records.read(internalTokenId(key)))?.value ?? null;
  }

  put(key: InternalTokenKey, need: ConnectionNeed, ttlSeconds: number): Promise<void> {
    return this.#records.save(internalTokenId(key), need, ttlSeconds);
  }

  async delete(key: InternalTokenKey): Promise<void> {
    await this.#records.delete(internalTokenId(key));
  }

  async claimStepUp(key: InternalTokenKey, windowSeconds: number): Promise<boolean> {
    const stepUp = keyOf(this.#redis, 'step-up', internalTokenId(key));
    const life = milliseconds(windowSeconds);
    return (await this.#redis.send('SET', stepUp, '1', 'NX', 'PX', life)) === 'OK';
  }
}
