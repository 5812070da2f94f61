import type { ClientStore } from '../client-store.ts';
import type { RegisteredClient } from '../../records/registered-client.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** Registered clients of one process. */
export class MemoryClientStore implements ClientStore {
  readonly #clients: ExpiringMap<RegisteredClient>;

  constructor(now: Now) {
    this.#clients = new ExpiringMap(now);
  }

  register(client: RegisteredClient, ttlSeconds: number): Promise<void> {
    this.#clients.set(keyOf(client.issuer, client.id), client, ttlSeconds);
    return Promise.resolve();
  }

  get(issuer: string, id: string): Promise<RegisteredClient | null> {
    return Promise.resolve(this.#clients.get(keyOf(issuer, id)));
  }

  touch(issuer: string, id: string, ttlSeconds: number): Promise<void> {
    this.#clients.extend(keyOf(issuer, id), ttlSeconds);
    return Promise.resolve();
  }
}

function keyOf(issuer: string, id: string): string {
  return JSON.stringify([issuer, id]);
}
