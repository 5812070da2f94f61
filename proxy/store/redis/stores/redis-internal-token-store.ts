import type { Sealer } from '../../../crypto/sealer.ts';
import { internalTokenId, secondsToKeep } from '../../../records/internal-token.ts';
import type { InternalToken, InternalTokenKey } from '../../../records/internal-token.ts';
import { firstVersion } from '../../first-version.ts';
import type { InternalTokenStore, VersionedInternalToken } from '../../internal-token-store.ts';
import type { RenewalClaim } from '../../renewals.ts';
import { isVersionedInternalToken } from '../records/upstream-record-guards.ts';
import { RenewableRecords } from '../records/renewable-records.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';

/** Internal tokens of all proxies. */
export class RedisInternalTokenStore implements InternalTokenStore {
  readonly #records: RenewableRecords<VersionedInternalToken>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#records = new RenewableRecords(redis, {
      sealer,
      kind: 'internal-token',
      renewalKind: 'internal-token-renewal',
      isValue: isVersionedInternalToken,
    });
  }

  get(key: InternalTokenKey): Promise<VersionedInternalToken | null> {
    return this.#records.get(internalTokenId(key));
  }

  save(key: InternalTokenKey, token: InternalToken): Promise<void> {
    const record = { token, version: firstVersion() };
    return this.#records.save(internalTokenId(key), record, secondsToKeep(token));
  }

  async update(
    key: InternalTokenKey,
    token: InternalToken,
    version: number,
  ): Promise<number | null> {
    const next = { token, version: version + 1 };
    const id = internalTokenId(key);
    const isUpdated = await this.#records.update(id, next, version, secondsToKeep(token));
    return isUpdated ? next.version : null;
  }

  drop(key: InternalTokenKey, version?: number): Promise<boolean> {
    const id = internalTokenId(key);
    if (version === undefined) return this.#records.remove(id);
    return this.#records.removeVersion(id, version);
  }

  claimRenewal(
    key: InternalTokenKey,
    leaseSeconds: number,
  ): Promise<RenewalClaim<VersionedInternalToken> | null> {
    return this.#records.claim(internalTokenId(key), leaseSeconds);
  }

  extendRenewal(key: InternalTokenKey, claimId: string, leaseSeconds: number): Promise<boolean> {
    return this.#records.extendClaim(internalTokenId(key), claimId, leaseSeconds);
  }

  releaseRenewal(key: InternalTokenKey, claimId: string, restSeconds = 0): Promise<void> {
    return this.#records.releaseClaim(internalTokenId(key), claimId, restSeconds);
  }
}
