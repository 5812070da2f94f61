import type { RegisteredClient } from '../records/registered-client.ts';

/** Dynamically registered clients. A client that is not used for its lifetime is forgotten. */
export interface ClientStore {
  register(client: RegisteredClient, ttlSeconds: number): Promise<void>;
  /** Null if unknown, or registered at a different issuer. */
  get(issuer: string, id: string): Promise<RegisteredClient | null>;
  /** Extends the client's lifetime to at least `ttlSeconds` from now. */
  touch(issuer: string, id: string, ttlSeconds: number): Promise<void>;
}
