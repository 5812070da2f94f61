import type { SignInRecord } from '../records/sign-in-record.ts';

/** A sign-in as it was read; `version` rises with every update. */
export interface VersionedSignIn {
  readonly signIn: SignInRecord;
  readonly version: number;
}

export type RenewalClaim =
  /** Nobody else renews it until `releaseRenewal`, or until the lease ends. */
  | ({ readonly kind: 'claimed'; readonly claimId: string } & VersionedSignIn)
  /** Somebody renews it at this moment. */
  | { readonly kind: 'busy' }
  /** A renewal failed a moment ago, through no fault of the user. */
  | { readonly kind: 'resting' };

/**
 * Sign-ins by id. A sign-in outlives its sessions: it lives as long as the grants made from it.
 *
 * A renewal uses the provider's refresh token, which many providers accept once only, so it has one
 * holder at a time over all proxies. The lease, which a holder extends while it works, frees it when one
 * dies; the version keeps a holder that outlived its lease from undoing the work of the next.
 */
export interface SignInStore {
  create(signIn: SignInRecord, ttlSeconds: number): Promise<void>;
  /** Null when unknown, expired or ended. */
  get(id: string): Promise<VersionedSignIn | null>;
  /** The sign-in lives at least another `ttlSeconds`. */
  extend(id: string, ttlSeconds: number): Promise<void>;
  /** No session is made from it any more. */
  end(id: string): Promise<void>;
  /** Atomic: of any number of concurrent calls for one id exactly one is `claimed`. Null as in `get`. */
  claimRenewal(id: string, leaseSeconds: number): Promise<RenewalClaim | null>;
  /** The claim lasts another `leaseSeconds`. False when it is not held: released, ended or another's. */
  extendRenewal(id: string, claimId: string, leaseSeconds: number): Promise<boolean>;
  /**
   * Puts the sign-in in the place of `version`. Returns the new version; null, and changes nothing,
   * when the version is another by now or the sign-in is gone. Lifetime and claim stay as they are.
   */
  update(signIn: SignInRecord, version: number): Promise<number | null>;
  /** Ends the claim. Then the sign-in is `resting` for `restSeconds`. Does nothing for another's claim. */
  releaseRenewal(id: string, claimId: string, restSeconds?: number): Promise<void>;
}
