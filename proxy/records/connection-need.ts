/** Why a user must connect again, although there is or was a token. A new connection ends it. */
export interface ConnectionNeed {
  /** Scopes that the upstream asked for; empty if it refused the token. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}
