import type { ClientMetadata } from '../records/client.ts';
import type { TokenHash } from '../crypto/tokens.ts';

/** A client that registered itself (RFC 7591), at one issuer. */
export interface RegisteredClient {
  readonly id: string;
  readonly issuer: string;
  /** sha256 of the secret; absent for public clients. */
  readonly secretHash?: TokenHash;
  readonly metadata: ClientMetadata;
  /** Milliseconds since the epoch. */
  readonly registeredAt: number;
}

/** Dynamically registered clients. One that is not used for its lifetime is forgotten. */
export interface ClientStore {
  register(client: RegisteredClient, ttlSeconds: number): Promise<void>;
  /** Null at another issuer than the one it registered at. */
  get(issuer: string, id: string): Promise<RegisteredClient | null>;
  /** The client lives at least another `ttlSeconds`. */
  touch(issuer: string, id: string, ttlSeconds: number): Promise<void>;
}
