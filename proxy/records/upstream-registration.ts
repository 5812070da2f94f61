/** Client authentication methods that the gateway uses at authorization servers of upstreams. */
export const UPSTREAM_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/** One of `UPSTREAM_AUTH_METHODS`. */
export type UpstreamAuthMethod = (typeof UPSTREAM_AUTH_METHODS)[number];

/** Where a registration is good. */
export interface UpstreamRegistrationKey {
  /** Of the authorization server. */
  readonly issuer: string;
  /** The callback URL that was registered. */
  readonly redirectUri: string;
}

/** The gateway's registration (RFC 7591) at the authorization server of an upstream, for all users. */
export interface UpstreamRegistration {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Milliseconds since the epoch. Absent if the secret does not expire. */
  readonly secretExpiresAt?: number;
  readonly authMethod: UpstreamAuthMethod;
  /** Milliseconds since the epoch. */
  readonly registeredAt: number;
}
