import type { SignInRecord } from '../records/sign-in-record.ts';

/** A sign-in and its version, which rises with every update. */
export interface VersionedSignIn {
  readonly signIn: SignInRecord;
  readonly version: number;
}

/** Answer to a claim to renew a sign-in. */
export type RenewalClaim =
  /** The caller may renew it; nobody else can until `releaseRenewal`, or until the lease ends. */
  | ({ readonly kind: 'claimed'; readonly claimId: string } & VersionedSignIn)
  /** It is being renewed. */
  | { readonly kind: 'busy' }
  /** A renewal failed a moment ago, and not because of the user. */
  | { readonly kind: 'resting' };

/**
 * Sign-ins by id. A sign-in outlives its sessions: it lives as long as the grants made from it.
 *
 * A renewal uses the provider's refresh token, which many providers accept only once. Therefore a
 * renewal has one holder at a time over all proxies. The holder extends a lease while it works;
 * after a crash the lease ends. The version keeps a holder that outlived its lease from undoing the
 * work of the next holder.
 */
export interface SignInStore {
  create(signIn: SignInRecord, ttlSeconds: number): Promise<void>;
  /** Null if unknown, expired or ended. */
  get(id: string): Promise<VersionedSignIn | null>;
  /** Extends the sign-in's lifetime to at least `ttlSeconds` from now. */
  extend(id: string, ttlSeconds: number): Promise<void>;
  /** Ends the sign-in: no session can be made from it. */
  end(id: string): Promise<void>;
  /**
   * Atomic: of any number of concurrent calls for one id exactly one is `claimed`. Null as in
   * `get`.
   */
  claimRenewal(id: string, leaseSeconds: number): Promise<RenewalClaim | null>;
  /** Extends the claim by `leaseSeconds`. False if the caller does not hold it. */
  extendRenewal(id: string, claimId: string, leaseSeconds: number): Promise<boolean>;
  /**
   * Replaces `version` of the sign-in. Returns the new version; null, without a change, if the
   * version has changed or the sign-in is gone. Lifetime and claim stay the same.
   */
  update(signIn: SignInRecord, version: number): Promise<number | null>;
  /** Ends the claim; the sign-in then rests for `restSeconds`. Does nothing if it is not held. */
  releaseRenewal(id: string, claimId: string, restSeconds?: number): Promise<void>;
}
