import type { Sealer } from '../../../crypto/sealer.ts';
import type { RenewalClaim } from '../../renewals.ts';
import type { SignInStore, VersionedSignIn } from '../../sign-in-store.ts';
import type { SignInRecord } from '../../../records/sign-in-record.ts';
import { isVersionedSignIn } from '../records/record-guards.ts';
import { RenewableRecords } from '../records/renewable-records.ts';
import type { RedisCommands } from '../connection/redis-commands.ts';

/** Sign-ins of all proxies. */
export class RedisSignInStore implements SignInStore {
  readonly #records: RenewableRecords<VersionedSignIn>;

  constructor(redis: RedisCommands, sealer: Sealer) {
    this.#records = new RenewableRecords(redis, {
      sealer,
      kind: 'sign-in',
      renewalKind: 'sign-in-renewal',
      isValue: isVersionedSignIn,
    });
  }

  create(signIn: SignInRecord, ttlSeconds: number): Promise<void> {
    return this.#records.save(signIn.id, { signIn, version: 1 }, ttlSeconds);
  }

  get(id: string): Promise<VersionedSignIn | null> {
    return this.#records.get(id);
  }

  extend(id: string, ttlSeconds: number): Promise<void> {
    return this.#records.extend(id, ttlSeconds);
  }

  async end(id: string): Promise<void> {
    await this.#records.remove(id);
  }

  async update(signIn: SignInRecord, version: number): Promise<number | null> {
    const next = { signIn, version: version + 1 };
    return (await this.#records.update(signIn.id, next, version)) ? next.version : null;
  }

  claimRenewal(id: string, leaseSeconds: number): Promise<RenewalClaim<VersionedSignIn> | null> {
    return this.#records.claim(id, leaseSeconds);
  }

  extendRenewal(id: string, claimId: string, leaseSeconds: number): Promise<boolean> {
    return this.#records.extendClaim(id, claimId, leaseSeconds);
  }

  releaseRenewal(id: string, claimId: string, restSeconds = 0): Promise<void> {
    return this.#records.releaseClaim(id, claimId, restSeconds);
  }
}
