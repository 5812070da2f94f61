import { randomUUID } from 'node:crypto';

import type { Sealer } from '../../../crypto/sealer.ts';
import type { RenewalClaim, SignInStore, VersionedSignIn } from '../../sign-in-store.ts';
import type { SignInRecord } from '../../../records/sign-in-record.ts';
import { keyOf, milliseconds } from '../records/keys.ts';
import { isVersionedSignIn } from '../records/record-guards.ts';
import type { RedisCommands, RedisScript } from '../connection/redis-commands.ts';
import { integerReply, textReply } from '../connection/replies.ts';
import { SealedRecords } from '../records/sealed-records.ts';

/** Replaces the id of a claim during the rest after a failed renewal. No claim has this id. */
const RESTING = 'resting';

/**
 * KEYS: sign-in, its renewal. ARGV: record as it was read, id of the claim, lease in milliseconds.
 */
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

/**
 * Sign-ins of all proxies.
 *
 * Version and sign-in are sealed together. Scripts compare the sealed text: sealing never produces
 * the same text twice, so equal text means an unchanged sign-in.
 */
export class RedisSignInStore implements SignInStore {
  readonly #redis: RedisCommands;
  readonly #records: SealedRecords<VersionedSignIn>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#redis = redis;
    this.#records = new SealedRecords(redis, {
      sealer,
      kind: 'sign-in',
      isValue: isVersionedSignIn,
    });
  }

  create(signIn: SignInRecord, ttlSeconds: number): Promise<void> {
    return this.#records.save(signIn.id, { signIn, version: 1 }, ttlSeconds);
  }

  async get(id: string): Promise<VersionedSignIn | null> {
    return (await this.#records.read(id))?.value ?? null;
  }

  extend(id: string, ttlSeconds: number): Promise<void> {
    return this.#records.extend(id, ttlSeconds);
  }

  async end(id: string): Promise<void> {
    await this.#redis.send('DEL', this.#records.keyOf(id), this.#renewalKeyOf(id));
  }

  async claimRenewal(id: string, leaseSeconds: number): Promise<RenewalClaim | null> {
    for (;;) {
      // Read first: a proxy that cannot open the sign-in must not keep others from renewing it.
      const record = await this.#records.read(id);
      if (record === null) return null;
      const claimId = randomUUID();
      const outcome = textReply(
        await this.#redis.run(
          CLAIM,
          [this.#records.keyOf(id), this.#renewalKeyOf(id)],
          [record.sealed, claimId, milliseconds(leaseSeconds)],
        ),
      );
      if (outcome === 'claimed') return { kind: outcome, claimId, ...record.value };
      if (outcome === 'busy' || outcome === 'resting') return { kind: outcome };
    }
  }

  async extendRenewal(id: string, claimId: string, leaseSeconds: number): Promise<boolean> {
    const args = [claimId, milliseconds(leaseSeconds)];
    return integerReply(await this.#redis.run(EXTEND, [this.#renewalKeyOf(id)], args)) === 1;
  }

  async update(signIn: SignInRecord, version: number): Promise<number | null> {
    const next = { signIn, version: version + 1 };
    for (;;) {
      const record = await this.#records.read(signIn.id);
      if (record?.value.version !== version) return null;
      if (await this.#records.replace(signIn.id, record, next)) return next.version;
      // It was replaced since it was read, but not updated if it was only sealed again.
    }
  }

  async releaseRenewal(id: string, claimId: string, restSeconds = 0): Promise<void> {
    const rest = restSeconds > 0 ? milliseconds(restSeconds) : 0;
    await this.#redis.run(RELEASE, [this.#renewalKeyOf(id)], [claimId, rest]);
  }

  #renewalKeyOf(id: string): string {
    return keyOf(this.#redis, 'sign-in-renewal', id);
  }
}
