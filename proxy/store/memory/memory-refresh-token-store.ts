import type {
  RefreshTokenRecord,
  RefreshTokenStore,
  Rotation,
  RotationOutcome,
} from '../refresh-token-store.ts';
import { ExpiringMap, type Clock } from './expiring-map.ts';

/** Longer than any request that is still about to save a token of a revoked family takes. */
const REVOCATION_MEMORY_SECONDS = 600;

/** Predecessors whose replay is still seen. An older one is unknown, and as useless. */
const MAX_PREDECESSORS = 32;

/** The last predecessor, while its repetition gets its successor. */
interface Grace {
  readonly hash: string;
  readonly sealedSuccessor: string;
  readonly endsAt: number;
}

interface Family {
  readonly isRevoked: boolean;
  /** Of its tokens, oldest first; the last one is the current token's. */
  readonly hashes: readonly string[];
  readonly grace?: Grace;
}

const REVOKED: Family = { isRevoked: true, hashes: [] };

/**
 * Refresh tokens of one process.
 *
 * What a family may hold is bounded, and past the bound on families the least recently used one
 * goes: nobody who refreshes in a loop pushes out the token of anybody else.
 */
export class MemoryRefreshTokenStore implements RefreshTokenStore {
  readonly #now: Clock;
  /** By grant. */
  readonly #families: ExpiringMap<Family>;
  /** Grant by hash of a token. Without a bound of its own: those of a family go with it. */
  readonly #grantIds: ExpiringMap<string>;

  constructor(now: Clock, maxFamilies?: number) {
    this.#now = now;
    this.#families = new ExpiringMap(now, maxFamilies, (family) => {
      this.#forget(family.hashes);
    });
    this.#grantIds = new ExpiringMap(now, Infinity);
  }

  save(hash: string, { grantId }: RefreshTokenRecord, ttlSeconds: number): Promise<void> {
    const family = this.#families.get(grantId) ?? { isRevoked: false, hashes: [] };
    // A code that is redeemed twice at once has its family revoked before the first token is saved
    // (RFC 9700, 4.5), and that token is born dead.
    if (!family.isRevoked) this.#append(hash, { grantId, family, ttlSeconds });
    return Promise.resolve();
  }

  get(hash: string): Promise<RefreshTokenRecord | null> {
    const grantId = this.#grantIds.get(hash);
    return Promise.resolve(grantId === null ? null : { grantId });
  }

  isReplay(hash: string): Promise<boolean> {
    const family = this.#families.get(this.#grantIds.get(hash) ?? '');
    const isReplay =
      family !== null &&
      family.hashes.at(-1) !== hash &&
      this.#repeat(hash, family).kind === 'replayed';
    return Promise.resolve(isReplay);
  }

  rotate(hash: string, rotation: Rotation): Promise<RotationOutcome | null> {
    const grantId = this.#grantIds.get(hash);
    const family = grantId === null ? null : this.#families.get(grantId);
    if (grantId === null || family === null) return Promise.resolve(null);
    if (family.hashes.at(-1) !== hash) return Promise.resolve(this.#repeat(hash, family));
    const { successorHash, sealedSuccessor, graceSeconds, ttlSeconds } = rotation;
    const endsAt = this.#now() + graceSeconds * 1000;
    const next = { ...family, grace: { hash, sealedSuccessor, endsAt } };
    this.#append(successorHash, { grantId, family: next, ttlSeconds });
    return Promise.resolve({ kind: 'rotated' });
  }

  revokeFamily(grantId: string): Promise<void> {
    this.#forget(this.#families.get(grantId)?.hashes ?? []);
    this.#families.set(grantId, REVOKED, REVOCATION_MEMORY_SECONDS);
    return Promise.resolve();
  }

  #repeat(hash: string, { grace }: Family): RotationOutcome {
    if (grace?.hash !== hash || grace.endsAt <= this.#now()) return { kind: 'replayed' };
    return { kind: 'repeated', sealedSuccessor: grace.sealedSuccessor };
  }

  /** Makes a token the current one of its family, which lives at least as long. */
  #append(
    hash: string,
    {
      grantId,
      family,
      ttlSeconds,
    }: { readonly grantId: string; readonly family: Family; readonly ttlSeconds: number },
  ): void {
    const hashes = [...family.hashes, hash];
    this.#forget(hashes.splice(0, hashes.length - MAX_PREDECESSORS - 1));
    this.#grantIds.set(hash, grantId, ttlSeconds);
    const next = { ...family, hashes };
    if (this.#families.get(grantId) === null) {
      this.#families.set(grantId, next, ttlSeconds);
      return;
    }
    this.#families.replace(grantId, next);
    this.#families.extend(grantId, ttlSeconds);
  }

  #forget(hashes: readonly string[]): void {
    for (const hash of hashes) this.#grantIds.delete(hash);
  }
}
