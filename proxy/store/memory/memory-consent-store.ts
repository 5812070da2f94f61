import type { ConsentKey } from '../../records/consent-key.ts';
import type { ConsentStore } from '../consent-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** Consents of one process. */
export class MemoryConsentStore implements ConsentStore {
  readonly #metadataHashes: ExpiringMap<string>;

  constructor(now: Now) {
    this.#metadataHashes = new ExpiringMap(now);
  }

  remember(key: ConsentKey, metadataHash: string, ttlSeconds: number): Promise<void> {
    this.#metadataHashes.set(keyOf(key), metadataHash, ttlSeconds);
    return Promise.resolve();
  }

  isRemembered(key: ConsentKey, metadataHash: string): Promise<boolean> {
    return Promise.resolve(this.#metadataHashes.get(keyOf(key)) === metadataHash);
  }

  forget(key: ConsentKey): Promise<void> {
    this.#metadataHashes.delete(keyOf(key));
    return Promise.resolve();
  }
}

/** JSON separates the members, so that different consents have different keys. */
function keyOf(key: ConsentKey): string {
  const { provider, providerIssuer, subject, issuer, clientId, redirectUri } = key;
  const user = [provider, providerIssuer, subject];
  return JSON.stringify([...user, issuer, clientId, redirectUri, key.resource, key.scopes]);
}
