import type { AuthorizationCode } from '../../records/authorization-code.ts';
import type { AuthorizationCodeStore, CodeConsumption } from '../authorization-code-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import type { TokenHash } from '../../crypto/tokens.ts';

interface CodeRecord {
  readonly code: AuthorizationCode;
  readonly isUsed: boolean;
}

/** Authorization codes of one process. */
export class MemoryAuthorizationCodeStore implements AuthorizationCodeStore {
  readonly #records: ExpiringMap<CodeRecord>;

  constructor(now: Now) {
    this.#records = new ExpiringMap(now);
  }

  save(hash: TokenHash, code: AuthorizationCode, ttlSeconds: number): Promise<void> {
    this.#records.set(hash, { code, isUsed: false }, ttlSeconds);
    return Promise.resolve();
  }

  peek(hash: TokenHash): Promise<AuthorizationCode | null> {
    return Promise.resolve(this.#records.get(hash)?.code ?? null);
  }

  consume(hash: TokenHash, memorySeconds: number): Promise<CodeConsumption | null> {
    const record = this.#records.get(hash);
    if (record === null) return Promise.resolve(null);
    const { code, isUsed } = record;
    if (isUsed) return Promise.resolve({ kind: 'reused', code });
    this.#records.set(hash, { code, isUsed: true }, memorySeconds);
    return Promise.resolve({ kind: 'consumed', code });
  }
}
