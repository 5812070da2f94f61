/** What was revoked: caches drop everything that stands on it. */
export type Revocation =
  /** Nobody knows: some may have been missed. Caches drop everything. */
  | { readonly kind: 'missed' }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'browser'; readonly sessionId: string }
  | { readonly kind: 'grant'; readonly grantId: string }
  | { readonly kind: 'token'; readonly tokenId: string };

/** Tells every proxy of a revocation, this one included. */
export interface Revocations {
  publish(revocation: Revocation): Promise<void>;
  /** Returns the function that ends the subscription. */
  subscribe(listener: (revocation: Revocation) => void): () => void;
}
