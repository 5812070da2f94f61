/** A record with its version, which changes with every update. */
export interface Versioned {
  readonly version: number;
}

/** Answer to a claim to renew a record. */
export type RenewalClaim<Record extends Versioned> =
  /** The caller may renew it; nobody else can until `releaseRenewal`, or until the lease ends. */
  | ({ readonly kind: 'claimed'; readonly claimId: string } & Record)
  /** It is being renewed. */
  | { readonly kind: 'busy' }
  /** A renewal failed a moment ago, and not because of the user. */
  | { readonly kind: 'resting' };

/**
 * Claims to renew records.
 *
 * A renewal uses a refresh token, which many servers accept only once. Therefore a renewal has one holder at
 * a time over all proxies. The holder extends a lease while it works; after a crash the lease ends. The
 * version keeps a holder that outlived its lease from undoing the work of the next holder.
 */
export interface Renewals<Key, Record extends Versioned> extends RenewalLeases<Key> {
  /**
   * Atomic: of any number of concurrent calls for one key exactly one is `claimed`. Null if there is no
   * record.
   */
  claimRenewal(key: Key, leaseSeconds: number): Promise<RenewalClaim<Record> | null>;
}

/** Claims that are held. */
export interface RenewalLeases<Key> {
  /** Extends the claim by `leaseSeconds`. False if the caller does not hold it. */
  extendRenewal(key: Key, claimId: string, leaseSeconds: number): Promise<boolean>;
  /** Ends the claim; the record then rests for `restSeconds`. Does nothing if it is not held. */
  releaseRenewal(key: Key, claimId: string, restSeconds?: number): Promise<void>;
}
