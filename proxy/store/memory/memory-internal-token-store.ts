import { internalTokenId, secondsToKeep } from '../../records/internal-token.ts';
import type { InternalToken, InternalTokenKey } from '../../records/internal-token.ts';
import { userKey } from '../../records/user-key.ts';
import { firstVersion } from '../first-version.ts';
import type { InternalTokenStore, VersionedInternalToken } from '../internal-token-store.ts';
import type { RenewalClaim } from '../renewals.ts';
import type { Now } from '../../cache/expiring-map.ts';
import { SharedMap } from '../../cache/shared-map.ts';
import { sizeInMemory } from '../../cache/size-in-memory.ts';
import { MemoryRenewalClaims } from './memory-renewal-claims.ts';

/** Room for ten thousand tokens of 2 KB. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Internal tokens of one process. When they are too many, the user with most loses the oldest. */
export class MemoryInternalTokenStore implements InternalTokenStore {
  readonly #tokens: SharedMap<VersionedInternalToken>;
  readonly #claims: MemoryRenewalClaims;

  constructor(now: Now, maxBytes: number = MAX_BYTES) {
    this.#tokens = new SharedMap(now, maxBytes);
    this.#claims = new MemoryRenewalClaims(now);
  }

  get(key: InternalTokenKey): Promise<VersionedInternalToken | null> {
    return Promise.resolve(this.#tokens.get(internalTokenId(key)));
  }

  save(key: InternalTokenKey, token: InternalToken): Promise<void> {
    this.#claims.end(internalTokenId(key));
    this.#set(key, { token, version: firstVersion() });
    return Promise.resolve();
  }

  update(key: InternalTokenKey, token: InternalToken, version: number): Promise<number | null> {
    if (!this.#isVersion(key, version)) return Promise.resolve(null);
    this.#set(key, { token, version: version + 1 });
    return Promise.resolve(version + 1);
  }

  drop(key: InternalTokenKey, version?: number): Promise<boolean> {
    const id = internalTokenId(key);
    if (version !== undefined && !this.#isVersion(key, version)) return Promise.resolve(false);
    this.#claims.end(id);
    return Promise.resolve(this.#tokens.consume(id) !== null);
  }

  claimRenewal(
    key: InternalTokenKey,
    leaseSeconds: number,
  ): Promise<RenewalClaim<VersionedInternalToken> | null> {
    const id = internalTokenId(key);
    return Promise.resolve(this.#claims.claim(id, this.#tokens.get(id), leaseSeconds));
  }

  extendRenewal(key: InternalTokenKey, claimId: string, leaseSeconds: number): Promise<boolean> {
    return Promise.resolve(this.#claims.extend(internalTokenId(key), claimId, leaseSeconds));
  }

  releaseRenewal(key: InternalTokenKey, claimId: string, restSeconds = 0): Promise<void> {
    this.#claims.release(internalTokenId(key), claimId, restSeconds);
    return Promise.resolve();
  }

  #isVersion(key: InternalTokenKey, version: number): boolean {
    return this.#tokens.get(internalTokenId(key))?.version === version;
  }

  #set(key: InternalTokenKey, versioned: VersionedInternalToken): void {
    const { token } = versioned;
    const terms = { size: sizeInMemory(versioned), ttlSeconds: secondsToKeep(token) };
    this.#tokens.set(internalTokenId(key), versioned, { owner: userKey(key.user), ...terms });
  }
}
