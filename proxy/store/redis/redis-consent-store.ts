import type { ConsentKey, ConsentStore } from '../consent-store.ts';
import { hashedId, keyOf, milliseconds } from './keys.ts';
import type { RedisCommands } from './redis-connection.ts';

/** Consents of all proxies. */
export class RedisConsentStore implements ConsentStore {
  readonly #redis: RedisCommands;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  async remember(key: ConsentKey, metadataHash: string, ttlSeconds: number): Promise<void> {
    await this.#redis.send('SET', this.#keyOf(key), metadataHash, 'PX', milliseconds(ttlSeconds));
  }

  async isRemembered(key: ConsentKey, metadataHash: string): Promise<boolean> {
    return (await this.#redis.send('GET', this.#keyOf(key))) === metadataHash;
  }

  #keyOf(key: ConsentKey): string {
    const { provider, subject, issuer, clientId, redirectUri, resource, scopes } = key;
    const id = hashedId(provider, subject, issuer, clientId, redirectUri, resource, scopes);
    return keyOf(this.#redis, 'consent', id);
  }
}
