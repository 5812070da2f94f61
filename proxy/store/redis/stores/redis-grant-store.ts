import type { Sealer } from '../../../crypto/sealer.ts';
import type { Grant } from '../../../records/grant.ts';
import type { GrantStore } from '../../grant-store.ts';
import { REVOCATION_MEMORY_SECONDS } from '../../revocation-memory.ts';
import { keyOf, milliseconds } from '../records/keys.ts';
import { isGrant } from '../records/record-guards.ts';
import type { RedisCommands, RedisScript } from '../connection/redis-commands.ts';
import { SealedRecords } from '../records/sealed-records.ts';

/** KEYS: grant, its revocation. ARGV: record, lifetime in milliseconds. */
const CREATE: RedisScript = {
  keyCount: 2,
  lua: `
    if redis.call('EXISTS', KEYS[2]) == 0 then
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    end
  `,
};

/**
 * KEYS: grant, its revocation. ARGV: how long the revocation is remembered, in milliseconds.
 *
 * Deletes first: a Redis without free memory refuses a script if its first write needs memory.
 */
const REVOKE: RedisScript = {
  keyCount: 2,
  lua: `
    redis.call('DEL', KEYS[1])
    redis.call('SET', KEYS[2], '1', 'PX', ARGV[1])
  `,
};

/** Grants of all proxies. */
export class RedisGrantStore implements GrantStore {
  readonly #redis: RedisCommands;
  readonly #records: SealedRecords<Grant>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#redis = redis;
    this.#records = new SealedRecords(redis, { sealer, kind: 'grant', isValue: isGrant });
  }

  async create(grant: Grant, ttlSeconds: number): Promise<void> {
    // If a code is redeemed twice at once, its grant is revoked before it exists (RFC 9700, 4.5).
    const sealed = this.#records.seal(grant.id, grant);
    await this.#redis.run(CREATE, this.#keysOf(grant.id), [sealed, milliseconds(ttlSeconds)]);
  }

  async get(id: string): Promise<Grant | null> {
    return (await this.#records.read(id))?.value ?? null;
  }

  async use(id: string, usedAt: number, ttlSeconds: number): Promise<void> {
    for (;;) {
      const record = await this.#records.read(id);
      if (record === null) return;
      const used = { ...record.value, usedAt };
      if (await this.#records.replaceAndExtend(id, record, used, ttlSeconds)) return;
    }
  }

  async revoke(id: string): Promise<void> {
    await this.#redis.run(REVOKE, this.#keysOf(id), [milliseconds(REVOCATION_MEMORY_SECONDS)]);
  }

  #keysOf(id: string): readonly string[] {
    return [this.#records.keyOf(id), keyOf(this.#redis, 'revoked-grant', id)];
  }
}
