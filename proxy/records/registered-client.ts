import type { ClientMetadata } from './client.ts';
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
  /** Present until a user approves the client. Earlier releases did not record it. */
  readonly isUnapproved?: true;
}
