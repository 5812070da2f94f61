import type { Sealer } from '../../../crypto/sealer.ts';
import type { AuthorizationCode } from '../../../records/authorization-code.ts';
import type { AuthorizationCodeStore, CodeConsumption } from '../../authorization-code-store.ts';
import { isCodeRecord, type CodeRecord } from '../records/record-guards.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';
import { SealedRecords } from '../records/sealed-records.ts';
import type { TokenHash } from '../../../crypto/tokens.ts';

/**
 * Authorization codes of all proxies.
 *
 * The mark that a code was used is sealed with it. A proxy opens a code before it marks the code, so
 * that a proxy without the sealing key leaves the code to a proxy that has the key.
 */
export class RedisAuthorizationCodeStore implements AuthorizationCodeStore {
  readonly #records: SealedRecords<CodeRecord>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#records = new SealedRecords(redis, {
      sealer,
      kind: 'authorization-code',
      isValue: isCodeRecord,
    });
  }

  save(hash: TokenHash, code: AuthorizationCode, ttlSeconds: number): Promise<void> {
    return this.#records.save(hash, { code, isUsed: false }, ttlSeconds);
  }

  async peek(hash: TokenHash): Promise<AuthorizationCode | null> {
    return (await this.#records.read(hash))?.value.code ?? null;
  }

  async consume(hash: TokenHash, memorySeconds: number): Promise<CodeConsumption | null> {
    const record = await this.#records.read(hash);
    if (record === null) return null;
    const { code, isUsed } = record.value;
    if (isUsed) return { kind: 'reused', code };
    const used = { code, isUsed: true };
    const isFirst = await this.#records.replace(hash, record, used, memorySeconds);
    if (isFirst) return { kind: 'consumed', code };
    // It was used, or expired, since it was read.
    return (await this.peek(hash)) === null ? null : { kind: 'reused', code };
  }
}
