import { randomUUID } from 'node:crypto';

import type { Sealer } from '../../../crypto/sealer.ts';
import type { RenewalClaim, Versioned } from '../../renewals.ts';
import type { RedisCommands, RedisScript } from '../connection/redis-commands.ts';
import { integerReply, textReply } from '../connection/replies.ts';
import type { Guard } from './guards.ts';
import { keyOf, milliseconds, type KeyKind } from './keys.ts';
import { SealedRecords } from './sealed-records.ts';

/** Replaces the id of a claim during the rest after a failed renewal. No claim has this id. */
const RESTING = 'resting';

/** KEYS: record, its renewal. ARGV: record, lifetime in milliseconds. */
const SAVE: RedisScript = {
  keyCount: 2,
  lua: `
    redis.call('DEL', KEYS[2])
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  `,
};

/** KEYS: record, its renewal. ARGV: the record as it was read. Returns 1 if it is dropped, else 0. */
const DROP: RedisScript = {
  keyCount: 2,
  lua: `
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    redis.call('DEL', KEYS[1], KEYS[2])
    return 1
  `,
};

/** KEYS: record, its renewal. ARGV: record as it was read, id of the claim, lease in milliseconds. */
const CLAIM: RedisScript = {
  keyCount: 2,
  lua: `
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'changed' end
    local renewal = redis.call('GET', KEYS[2])
    if renewal == '${RESTING}' then return 'resting' end
    if renewal then return 'busy' end
    redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
    return 'claimed'
  `,
};

/** KEYS: renewal. ARGV: id of the claim, lease in milliseconds. Returns 1 if it is held, else 0. */
const EXTEND: RedisScript = {
  keyCount: 1,
  lua: `
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
  `,
};

/** KEYS: renewal. ARGV: id of the claim, rest in milliseconds, 0 for none. */
const RELEASE: RedisScript = {
  keyCount: 1,
  lua: `
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
    if tonumber(ARGV[2]) == 0 then
      redis.call('DEL', KEYS[1])
    else
      redis.call('SET', KEYS[1], '${RESTING}', 'PX', ARGV[2])
    end
  `,
};

/** The kinds of a record and of its renewal. */
interface RenewableKinds {
  readonly kind: KeyKind;
  readonly renewalKind: KeyKind;
}

/**
 * Records of one kind that are renewed by one holder at a time; see `Renewals`.
 *
 * Version and content are sealed together. Scripts compare the sealed text: sealing never produces
 * the same text twice, so equal text means an unchanged record.
 */
export class RenewableRecords<Record extends Versioned> {
  readonly #redis: RedisCommands;
  readonly #renewalKind: KeyKind;
  readonly #records: SealedRecords<Record>;

  constructor(
    redis: RedisCommands,
    options: { sealer: Sealer; isValue: Guard<Record> } & RenewableKinds,
  ) {
    this.#redis = redis;
    this.#renewalKind = options.renewalKind;
    this.#records = new SealedRecords(redis, options);
  }

  async get(id: string): Promise<Record | null> {
    return (await this.#records.read(id))?.value ?? null;
  }

  /** Replaces any other record, and ends its claim. */
  async save(id: string, record: Record, ttlSeconds: number): Promise<void> {
    const args = [this.#records.seal(id, record), milliseconds(ttlSeconds)];
    await this.#redis.run(SAVE, this.#keysOf(id), args);
  }

  extend(id: string, ttlSeconds: number): Promise<void> {
    return this.#records.extend(id, ttlSeconds);
  }

  /** Removes record and claim. Returns whether there was a record or a claim. */
  async remove(id: string): Promise<boolean> {
    return integerReply(await this.#redis.send('DEL', ...this.#keysOf(id))) > 0;
  }

  /** Removes record and claim if the record has this version. */
  async removeVersion(id: string, version: number): Promise<boolean> {
    for (;;) {
      const record = await this.#records.read(id);
      if (record?.value.version !== version) return false;
      const removed = await this.#redis.run(DROP, this.#keysOf(id), [record.sealed]);
      if (integerReply(removed) === 1) return true;
      // It was replaced since it was read, but not updated if it was only sealed again.
    }
  }

  /** Replaces the record of `version`. The lifetime stays the same unless one is given. */
  async update(id: string, next: Record, version: number, ttlSeconds?: number): Promise<boolean> {
    for (;;) {
      const record = await this.#records.read(id);
      if (record?.value.version !== version) return false;
      if (await this.#records.replace(id, record, next, ttlSeconds)) return true;
      // It was replaced since it was read, but not updated if it was only sealed again.
    }
  }

  async claim(id: string, leaseSeconds: number): Promise<RenewalClaim<Record> | null> {
    for (;;) {
      // Read first: a proxy that cannot open the record must not keep others from renewing it.
      const record = await this.#records.read(id);
      if (record === null) return null;
      const claimId = randomUUID();
      const args = [record.sealed, claimId, milliseconds(leaseSeconds)];
      const outcome = textReply(await this.#redis.run(CLAIM, this.#keysOf(id), args));
      if (outcome === 'claimed') return { kind: outcome, claimId, ...record.value };
      if (outcome === 'busy' || outcome === 'resting') return { kind: outcome };
    }
  }

  async extendClaim(id: string, claimId: string, leaseSeconds: number): Promise<boolean> {
    const args = [claimId, milliseconds(leaseSeconds)];
    return integerReply(await this.#redis.run(EXTEND, [this.#renewalKeyOf(id)], args)) === 1;
  }

  async releaseClaim(id: string, claimId: string, restSeconds: number): Promise<void> {
    const rest = restSeconds > 0 ? milliseconds(restSeconds) : 0;
    await this.#redis.run(RELEASE, [this.#renewalKeyOf(id)], [claimId, rest]);
  }

  #keysOf(id: string): readonly string[] {
    return [this.#records.keyOf(id), this.#renewalKeyOf(id)];
  }

  #renewalKeyOf(id: string): string {
    return keyOf(this.#redis, this.#renewalKind, id);
  }
}
