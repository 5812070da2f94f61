import type { Sealer } from '../../../crypto/sealer.ts';
import type { ConsentKey } from '../../../records/consent-key.ts';
import type { ConsentStore } from '../../consent-store.ts';
import { isString } from '../records/guards.ts';
import { hashedId } from '../records/keys.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { SealedRecords } from '../records/sealed-records.ts';
import { UnreadableRecordError } from '../records/unreadable-record-error.ts';

/**
 * Consents of all proxies.
 *
 * Consents are sealed. Attack: someone who can write to Redis could consent in a user's name.
 */
export class RedisConsentStore implements ConsentStore {
  readonly #metadataHashes: SealedRecords<string>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#metadataHashes = new SealedRecords(redis, { sealer, kind: 'consent', isValue: isString });
  }

  async remember(key: ConsentKey, metadataHash: string, ttlSeconds: number): Promise<void> {
    await this.#metadataHashes.save(idOf(key), metadataHash, ttlSeconds);
  }

  async isRemembered(key: ConsentKey, metadataHash: string): Promise<boolean> {
    try {
      return (await this.#metadataHashes.read(idOf(key)))?.value === metadataHash;
    } catch (error) {
      // Unlike other records, a consent can be made again: the user is asked.
      if (error instanceof UnreadableRecordError) return false;
      throw error;
    }
  }

  async forget(key: ConsentKey): Promise<void> {
    await this.#metadataHashes.delete(idOf(key));
  }
}

function idOf(key: ConsentKey): string {
  const { provider, providerIssuer = '', subject, issuer, clientId, redirectUri } = key;
  const user = [provider, providerIssuer, subject];
  return hashedId(user, issuer, clientId, redirectUri, key.resource, key.scopes);
}
