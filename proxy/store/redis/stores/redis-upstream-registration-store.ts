import type { Sealer } from '../../../crypto/sealer.ts';
import type {
  UpstreamRegistration,
  UpstreamRegistrationKey,
} from '../../../records/upstream-registration.ts';
import type { UpstreamRegistrationStore } from '../../upstream-registration-store.ts';
import { hashedId, milliseconds } from '../records/keys.ts';
import { isUpstreamRegistration } from '../records/upstream-record-guards.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { integerReply } from '../connection/replies.ts';
import { DELETE_IF_EQUAL } from '../connection/scripts.ts';
import { SealedRecords } from '../records/sealed-records.ts';

/** Registrations of all proxies. */
export class RedisUpstreamRegistrationStore implements UpstreamRegistrationStore {
  readonly #redis: RedisCommands;
  readonly #records: SealedRecords<UpstreamRegistration>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#redis = redis;
    this.#records = new SealedRecords(redis, {
      sealer,
      kind: 'upstream-registration',
      isValue: isUpstreamRegistration,
    });
  }

  async get(key: UpstreamRegistrationKey): Promise<UpstreamRegistration | null> {
    return (await this.#records.read(idOf(key)))?.value ?? null;
  }

  async save(
    key: UpstreamRegistrationKey,
    registration: UpstreamRegistration,
    ttlSeconds: number,
  ): Promise<UpstreamRegistration> {
    const id = idOf(key);
    const [name, life] = [this.#records.keyOf(id), milliseconds(ttlSeconds)];
    for (;;) {
      const sealed = this.#records.seal(id, registration);
      const reply = await this.#redis.send('SET', name, sealed, 'NX', 'PX', life);
      if (reply === 'OK') return registration;
      const first = await this.get(key);
      if (first !== null) return first;
    }
  }

  extend(key: UpstreamRegistrationKey, ttlSeconds: number): Promise<void> {
    return this.#records.extend(idOf(key), ttlSeconds);
  }

  async delete(key: UpstreamRegistrationKey, clientId: string): Promise<void> {
    const id = idOf(key);
    for (;;) {
      const record = await this.#records.read(id);
      if (record?.value.clientId !== clientId) return;
      const keys = [this.#records.keyOf(id)];
      const deleted = await this.#redis.run(DELETE_IF_EQUAL, keys, [record.sealed]);
      if (integerReply(deleted) === 1) return;
    }
  }
}

function idOf({ issuer, redirectUri }: UpstreamRegistrationKey): string {
  return hashedId(issuer, redirectUri);
}
