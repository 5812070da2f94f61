import type { RenewalClaim } from '../renewals.ts';
import type { SignInStore, VersionedSignIn } from '../sign-in-store.ts';
import type { SignInRecord } from '../../records/sign-in-record.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import { MemoryRenewalClaims } from './memory-renewal-claims.ts';

/** Sign-ins of one process. */
export class MemorySignInStore implements SignInStore {
  readonly #signIns: ExpiringMap<VersionedSignIn>;
  readonly #claims: MemoryRenewalClaims;

  constructor(now: Now) {
    this.#signIns = new ExpiringMap(now);
    this.#claims = new MemoryRenewalClaims(now);
  }

  create(signIn: SignInRecord, ttlSeconds: number): Promise<void> {
    this.#signIns.set(signIn.id, { signIn, version: 1 }, ttlSeconds);
    return Promise.resolve();
  }

  get(id: string): Promise<VersionedSignIn | null> {
    return Promise.resolve(this.#signIns.get(id));
  }

  extend(id: string, ttlSeconds: number): Promise<void> {
    this.#signIns.extend(id, ttlSeconds);
    return Promise.resolve();
  }

  end(id: string): Promise<void> {
    this.#signIns.delete(id);
    this.#claims.end(id);
    return Promise.resolve();
  }

  update(signIn: SignInRecord, version: number): Promise<number | null> {
    if (this.#signIns.get(signIn.id)?.version !== version) return Promise.resolve(null);
    this.#signIns.replace(signIn.id, { signIn, version: version + 1 });
    return Promise.resolve(version + 1);
  }

  claimRenewal(id: string, leaseSeconds: number): Promise<RenewalClaim<VersionedSignIn> | null> {
    return Promise.resolve(this.#claims.claim(id, this.#signIns.get(id), leaseSeconds));
  }

  extendRenewal(id: string, claimId: string, leaseSeconds: number): Promise<boolean> {
    return Promise.resolve(this.#claims.extend(id, claimId, leaseSeconds));
  }

  releaseRenewal(id: string, claimId: string, restSeconds = 0): Promise<void> {
    this.#claims.release(id, claimId, restSeconds);
    return Promise.resolve();
  }
}
