import type { TokenHash } from '../crypto/tokens.ts';

/** Validated metadata of a client, from its registration or its metadata document. */
export interface ClientMetadata {
  readonly clientName?: string;
  readonly clientUri?: string;
  readonly redirectUris: readonly string[];
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  /** Those that this authorization server supports. */
  readonly grantTypes: readonly string[];
  /** As the client states. The rules for redirect URIs are the same for both. */
  readonly applicationType?: 'native' | 'web';
  readonly scope?: string;
  /** One of these two is present for `private_key_jwt`. */
  readonly jwks?: ClientKeySet;
  readonly jwksUri?: string;
}

/** Public keys of a client (RFC 7517, section 5). */
export interface ClientKeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Client authentication methods that this authorization server supports. */
export const TOKEN_ENDPOINT_AUTH_METHODS = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const;

/** One of `TOKEN_ENDPOINT_AUTH_METHODS`. */
export type TokenEndpointAuthMethod = (typeof TOKEN_ENDPOINT_AUTH_METHODS)[number];

/** An OAuth client, known at one issuer. */
export interface Client {
  readonly id: string;
  readonly source: 'registration' | 'metadata-document';
  readonly metadata: ClientMetadata;
  readonly secretHash?: TokenHash;
  /** Registered by a stranger, and not approved by any user yet. */
  readonly isUnapproved?: true;
}
