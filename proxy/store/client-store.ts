import type { RegisteredClient } from '../records/registered-client.ts';

/**
 * Dynamically registered clients. A client that is not used for its lifetime is forgotten.
 *
 * Anybody may register. No number of registrations makes a store in memory forget a client that a user has
 * approved, and none of one end site those of others.
 */
export interface ClientStore {
  /** `endSite` is where the registration came from. */
  register(client: RegisteredClient, ttlSeconds: number, endSite?: string): Promise<void>;
  /** Null if unknown, or registered at a different issuer. */
  get(issuer: string, id: string): Promise<RegisteredClient | null>;
  /**
   * Extends the lifetime of a client that a user has approved to at least `ttlSeconds` from now. The client
   * counts as approved from then on.
   */
  keepApproved(issuer: string, id: string, ttlSeconds: number): Promise<void>;
  /** Forgets a client at once. Returns whether it was known. */
  remove(issuer: string, id: string): Promise<boolean>;
}
