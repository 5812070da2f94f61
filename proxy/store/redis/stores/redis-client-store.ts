import type { Sealer } from '../../../crypto/sealer.ts';
import type { ClientStore } from '../../client-store.ts';
import type { RegisteredClient } from '../../../records/registered-client.ts';
import { hashedId } from '../records/keys.ts';
import { isRegisteredClient } from '../records/record-guards.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { SealedRecords } from '../records/sealed-records.ts';

/** Registered clients of all proxies. */
export class RedisClientStore implements ClientStore {
  readonly #records: SealedRecords<RegisteredClient>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#records = new SealedRecords(redis, {
      sealer,
      kind: 'client',
      isValue: isRegisteredClient,
    });
  }

  register(client: RegisteredClient, ttlSeconds: number): Promise<void> {
    return this.#records.save(hashedId(client.issuer, client.id), client, ttlSeconds);
  }

  async get(issuer: string, id: string): Promise<RegisteredClient | null> {
    return (await this.#records.read(hashedId(issuer, id)))?.value ?? null;
  }

  async keepApproved(issuer: string, id: string, ttlSeconds: number): Promise<void> {
    const key = hashedId(issuer, id);
    const record = await this.#records.read(key);
    if (record === null) return;
    const { isUnapproved, ...approved } = record.value;
    // If it changed meanwhile, another request wrote the same.
    if (isUnapproved === true) await this.#records.replace(key, record, approved);
    await this.#records.extend(key, ttlSeconds);
  }

  remove(issuer: string, id: string): Promise<boolean> {
    return this.#records.delete(hashedId(issuer, id));
  }
}
