/** Why a user must connect again, although there is a token. A new connection ends it. */
export interface ConnectionNeed {
  /** What the next connection asks for: what the token has, and what the upstream wants besides. */
  readonly scopes: readonly string[];
}
