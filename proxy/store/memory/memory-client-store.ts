import type { ClientStore } from '../client-store.ts';
import type { RegisteredClient } from '../../records/registered-client.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import { SharedMap } from '../../cache/shared-map.ts';
import { sizeInMemory } from '../../cache/size-in-memory.ts';

const MIB = 1024 * 1024;

/** Anybody may register; a client has at most 10 KB here. */
const MAX_UNAPPROVED_BYTES = 16 * MIB;

/** Each needed a user; a client has at most 10 KB here. */
const MAX_APPROVED = 10_000;

/** Registered clients of one process. Those that no user has approved are kept apart. */
export class MemoryClientStore implements ClientStore {
  readonly #unapproved: SharedMap<RegisteredClient>;
  readonly #approved: ExpiringMap<RegisteredClient>;

  constructor(now: Now) {
    this.#unapproved = new SharedMap(now, MAX_UNAPPROVED_BYTES);
    this.#approved = new ExpiringMap(now, MAX_APPROVED);
  }

  register(client: RegisteredClient, ttlSeconds: number, endSite = ''): Promise<void> {
    const terms = { owner: endSite, size: sizeInMemory(client), ttlSeconds };
    this.#unapproved.set(keyOf(client.issuer, client.id), client, terms);
    return Promise.resolve();
  }

  get(issuer: string, id: string): Promise<RegisteredClient | null> {
    const key = keyOf(issuer, id);
    return Promise.resolve(this.#approved.get(key) ?? this.#unapproved.get(key));
  }

  keepApproved(issuer: string, id: string, ttlSeconds: number): Promise<void> {
    const key = keyOf(issuer, id);
    const remaining = this.#unapproved.remainingSeconds(key);
    const registered = this.#unapproved.consume(key);
    if (registered === null) {
      this.#approved.extend(key, ttlSeconds);
      return Promise.resolve();
    }
    const { isUnapproved, ...approved } = registered;
    const kept = isUnapproved === true ? approved : registered;
    this.#approved.set(key, kept, Math.max(ttlSeconds, remaining));
    return Promise.resolve();
  }

  remove(issuer: string, id: string): Promise<boolean> {
    const key = keyOf(issuer, id);
    const isUnapproved = this.#unapproved.consume(key) !== null;
    return Promise.resolve(this.#approved.consume(key) !== null || isUnapproved);
  }
}

function keyOf(issuer: string, id: string): string {
  return JSON.stringify([issuer, id]);
}
