import type { Grant } from '../../records/grant.ts';
import type { GrantStore } from '../grant-store.ts';
import { REVOCATION_MEMORY_SECONDS } from '../revocation-memory.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** Grants of one process. */
export class MemoryGrantStore implements GrantStore {
  readonly #grants: ExpiringMap<Grant>;
  readonly #revoked: ExpiringMap<true>;

  constructor(now: Now) {
    this.#grants = new ExpiringMap(now);
    this.#revoked = new ExpiringMap(now);
  }

  create(grant: Grant, ttlSeconds: number): Promise<void> {
    // If a code is redeemed twice at once, its grant is revoked before it exists (RFC 9700, 4.5).
    if (this.#revoked.get(grant.id) === null) this.#grants.set(grant.id, grant, ttlSeconds);
    return Promise.resolve();
  }

  get(id: string): Promise<Grant | null> {
    return Promise.resolve(this.#grants.get(id));
  }

  use(id: string, usedAt: number, ttlSeconds: number): Promise<void> {
    const grant = this.#grants.get(id);
    if (grant !== null) this.#grants.replace(id, { ...grant, usedAt });
    this.#grants.extend(id, ttlSeconds);
    return Promise.resolve();
  }

  revoke(id: string): Promise<void> {
    this.#grants.delete(id);
    this.#revoked.set(id, true, REVOCATION_MEMORY_SECONDS);
    return Promise.resolve();
  }
}
