import type {
  RefreshTokenRecord,
  RefreshTokenStore,
  Rotation,
  RotationOutcome,
} from '../refresh-token-store.ts';
import { ExpiringMap, type Clock } from './expiring-map.ts';

/** Longer than any request that is still about to save a token of a revoked family takes. */
const REVOCATION_MEMORY_SECONDS = 600;

interface TokenRecord {
  readonly grantId: string;
  /** Absent for a family's first token. */
  readonly predecessorHash?: string;
  readonly isRotated: boolean;
}

/** Refresh tokens of one process. */
export class MemoryRefreshTokenStore implements RefreshTokenStore {
  readonly #tokens: ExpiringMap<TokenRecord>;
  /** By grant. A token whose family is not here is dead: forgetting a family shuts it out. */
  readonly #families: ExpiringMap<'live' | 'revoked'>;
  /** Sealed successors by hash of their predecessor, for as long as its grace lasts. */
  readonly #graces: ExpiringMap<string>;

  constructor(now: Clock) {
    this.#tokens = new ExpiringMap(now);
    this.#families = new ExpiringMap(now);
    this.#graces = new ExpiringMap(now);
  }

  save(hash: string, { grantId }: RefreshTokenRecord, ttlSeconds: number): Promise<void> {
    this.#put(hash, { grantId, isRotated: false }, ttlSeconds);
    return Promise.resolve();
  }

  get(hash: string): Promise<RefreshTokenRecord | null> {
    const token = this.#find(hash);
    return Promise.resolve(token === null ? null : { grantId: token.grantId });
  }

  rotate(hash: string, rotation: Rotation): Promise<RotationOutcome | null> {
    const token = this.#find(hash);
    if (token === null) return Promise.resolve(null);
    if (token.isRotated) return Promise.resolve(this.#repeat(hash));
    const { successorHash, sealedSuccessor, graceSeconds, ttlSeconds } = rotation;
    const { grantId, predecessorHash } = token;
    if (predecessorHash !== undefined) this.#graces.delete(predecessorHash);
    this.#tokens.replace(hash, { ...token, isRotated: true });
    this.#graces.set(hash, sealedSuccessor, graceSeconds);
    this.#put(successorHash, { grantId, predecessorHash: hash, isRotated: false }, ttlSeconds);
    return Promise.resolve({ kind: 'rotated' });
  }

  revokeFamily(grantId: string): Promise<void> {
    this.#families.set(grantId, 'revoked', REVOCATION_MEMORY_SECONDS);
    return Promise.resolve();
  }

  #find(hash: string): TokenRecord | null {
    const token = this.#tokens.get(hash);
    if (token === null || this.#families.get(token.grantId) !== 'live') return null;
    return token;
  }

  #repeat(hash: string): RotationOutcome {
    const sealedSuccessor = this.#graces.get(hash);
    return sealedSuccessor === null ? { kind: 'replayed' } : { kind: 'repeated', sealedSuccessor };
  }

  #put(hash: string, token: TokenRecord, ttlSeconds: number): void {
    this.#tokens.set(hash, token, ttlSeconds);
    if (this.#families.get(token.grantId) === null) {
      this.#families.set(token.grantId, 'live', ttlSeconds);
    } else {
      // It keeps its state: a code that is redeemed twice at once has its family revoked before the
      // first token is saved (RFC 9700, 4.5), and that token is born dead.
      this.#families.extend(token.grantId, ttlSeconds);
    }
  }
}
