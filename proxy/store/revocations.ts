/** A revocation: caches drop every entry that depends on it. */
export type Revocation =
  /** Revocations may have been missed: caches drop everything. */
  | { readonly kind: 'missed' }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'browser'; readonly sessionId: string }
  | { readonly kind: 'grant'; readonly grantId: string }
  | { readonly kind: 'token'; readonly tokenId: string }
  /** A newer token, or none, is in the store. `keyHash` is the `internalTokenId`. */
  | { readonly kind: 'internal-token'; readonly keyHash: string };

/** Publishes revocations to every proxy, this one included. */
export interface Revocations {
  publish(revocation: Revocation): Promise<void>;
  /** Returns the function that ends the subscription. */
  subscribe(listener: (revocation: Revocation) => void): () => void;
}
