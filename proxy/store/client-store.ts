import type { RegisteredClient } from '../records/registered-client.ts';

/** Dynamically registered clients. One that is not used for its lifetime is forgotten. */
export interface ClientStore {
  register(client: RegisteredClient, ttlSeconds: number): Promise<void>;
  /** Null at another issuer than the one it registered at. */
  get(issuer: string, id: string): Promise<RegisteredClient | null>;
  /** The client lives at least another `ttlSeconds`. */
  touch(issuer: string, id: string, ttlSeconds: number): Promise<void>;
}
