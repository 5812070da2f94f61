import type { TokenHash } from '../crypto/tokens.ts';

/** What a client says of itself, checked; by registration or by its metadata document. */
export interface ClientMetadata {
  readonly clientName?: string;
  readonly clientUri?: string;
  readonly redirectUris: readonly string[];
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  /** Of those this authorization server has. */
  readonly grantTypes: readonly string[];
  /** As the client says; redirect URIs are judged alike for both. */
  readonly applicationType?: 'native' | 'web';
  readonly scope?: string;
  /** For `private_key_jwt`; one of the two. */
  readonly jwks?: ClientKeySet;
  readonly jwksUri?: string;
}

/** Public keys of a client (RFC 7517, section 5). */
export interface ClientKeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

export const TOKEN_ENDPOINT_AUTH_METHODS = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const;

export type TokenEndpointAuthMethod = (typeof TOKEN_ENDPOINT_AUTH_METHODS)[number];

/** An OAuth client, known at one issuer. */
export interface Client {
  readonly id: string;
  readonly source: 'registration' | 'metadata-document';
  readonly metadata: ClientMetadata;
  readonly secretHash?: TokenHash;
}
