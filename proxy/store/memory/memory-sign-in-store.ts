import { randomUUID } from 'node:crypto';

import type { RenewalClaim, SignInStore, VersionedSignIn } from '../sign-in-store.ts';
import type { SignInRecord } from '../../records/sign-in-record.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

/** A claim; without a claim id, the rest after a failed renewal. */
interface Renewal {
  readonly claimId?: string;
}

/** Sign-ins of one process. */
export class MemorySignInStore implements SignInStore {
  readonly #signIns: ExpiringMap<VersionedSignIn>;
  /** By sign-in. */
  readonly #renewals: ExpiringMap<Renewal>;

  constructor(now: Now) {
    this.#signIns = new ExpiringMap(now);
    this.#renewals = new ExpiringMap(now);
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
    this.#renewals.delete(id);
    return Promise.resolve();
  }

  claimRenewal(id: string, leaseSeconds: number): Promise<RenewalClaim | null> {
    const versioned = this.#signIns.get(id);
    if (versioned === null) return Promise.resolve(null);
    const renewal = this.#renewals.get(id);
    if (renewal !== null) {
      return Promise.resolve({ kind: renewal.claimId === undefined ? 'resting' : 'busy' });
    }
    const claimId = randomUUID();
    this.#renewals.set(id, { claimId }, leaseSeconds);
    return Promise.resolve({ kind: 'claimed', claimId, ...versioned });
  }

  extendRenewal(id: string, claimId: string, leaseSeconds: number): Promise<boolean> {
    const isHeld = this.#renewals.get(id)?.claimId === claimId;
    if (isHeld) this.#renewals.set(id, { claimId }, leaseSeconds);
    return Promise.resolve(isHeld);
  }

  update(signIn: SignInRecord, version: number): Promise<number | null> {
    if (this.#signIns.get(signIn.id)?.version !== version) return Promise.resolve(null);
    this.#signIns.replace(signIn.id, { signIn, version: version + 1 });
    return Promise.resolve(version + 1);
  }

  releaseRenewal(id: string, claimId: string, restSeconds = 0): Promise<void> {
    if (this.#renewals.get(id)?.claimId !== claimId) return Promise.resolve();
    if (restSeconds > 0) this.#renewals.set(id, {}, restSeconds);
    else this.#renewals.delete(id);
    return Promise.resolve();
  }
}
