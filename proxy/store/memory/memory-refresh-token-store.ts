import type { RefreshTokenReference } from '../../records/refresh-token-reference.ts';
import type {
  RefreshTokenState,
  RefreshTokenStore,
  Rotation,
  RotationOutcome,
} from '../refresh-token-store.ts';
import { REVOCATION_MEMORY_SECONDS } from '../revocation-memory.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import type { TokenHash } from '../../crypto/tokens.ts';

/** The rotated token, while its rotation can be repeated. */
interface Grace {
  readonly hash: TokenHash;
  readonly sealedSuccessor: string;
  readonly endsAt: number;
}

interface Family {
  /** Generation of the current token. */
  readonly generation: number;
  readonly hash: TokenHash;
  /** Absent until the first rotation. */
  readonly grace?: Grace;
}

/**
 * Refresh tokens of one process.
 *
 * Beyond the limit, the least recently used family is dropped, so that a client that refreshes in a
 * loop evicts no tokens of others.
 */
export class MemoryRefreshTokenStore implements RefreshTokenStore {
  readonly #now: Now;
  /** By grant. */
  readonly #families: ExpiringMap<Family | 'revoked'>;

  constructor(now: Now, maxFamilies?: number) {
    this.#now = now;
    this.#families = new ExpiringMap(now, maxFamilies);
  }

  save({ grantId, generation, hash }: RefreshTokenReference, ttlSeconds: number): Promise<void> {
    const family = this.#families.get(grantId);
    // If a code is redeemed twice at once, its family is revoked before the first token is saved
    // (RFC 9700, 4.5): that token must not become valid.
    const mayStart = family === null || (family !== 'revoked' && family.grace === undefined);
    if (mayStart) this.#families.set(grantId, { generation, hash }, ttlSeconds);
    return Promise.resolve();
  }

  stateOf(token: RefreshTokenReference): Promise<RefreshTokenState | null> {
    const family = this.#familyOf(token);
    return Promise.resolve(family === null ? null : this.#stateIn(family, token));
  }

  rotate(token: RefreshTokenReference, rotation: Rotation): Promise<RotationOutcome | null> {
    const family = this.#familyOf(token);
    const state = family === null ? null : this.#stateIn(family, token);
    if (state === 'current') {
      this.#succeed(token, rotation);
      return Promise.resolve({ kind: 'rotated' });
    }
    if (state === 'repeatable' && family?.grace !== undefined) {
      const { sealedSuccessor } = family.grace;
      return Promise.resolve({ kind: 'repeated', sealedSuccessor });
    }
    return Promise.resolve(state === null ? null : { kind: 'replayed' });
  }

  revokeFamily(grantId: string): Promise<void> {
    this.#families.set(grantId, 'revoked', REVOCATION_MEMORY_SECONDS);
    return Promise.resolve();
  }

  #familyOf({ grantId }: RefreshTokenReference): Family | null {
    const family = this.#families.get(grantId);
    return family === 'revoked' ? null : family;
  }

  #stateIn(
    { grace, ...current }: Family,
    { generation, hash }: RefreshTokenReference,
  ): RefreshTokenState | null {
    if (generation > current.generation) return null;
    if (generation === current.generation) return hash === current.hash ? 'current' : null;
    const isInGrace = grace?.hash === hash && grace.endsAt > this.#now();
    return isInGrace ? 'repeatable' : 'replayed';
  }

  #succeed(
    { grantId, generation, hash }: RefreshTokenReference,
    { successorHash, sealedSuccessor, graceSeconds, ttlSeconds }: Rotation,
  ): void {
    const grace = { hash, sealedSuccessor, endsAt: this.#now() + graceSeconds * 1000 };
    const family = { generation: generation + 1, hash: successorHash, grace };
    this.#families.set(grantId, family, ttlSeconds);
  }
}
