/** A user's approval for one client to use one route; what its tokens stand for. */
export interface Grant {
  readonly id: string;
  /** Route origin it was made at; elsewhere it is unknown. */
  readonly issuer: string;
  readonly clientId: string;
  /** The sign-in it was approved in: its tokens stand on the sessions of that. */
  readonly signInId: string;
  /** Canonical resource identifier of the route: the audience of its access tokens. */
  readonly resource: string;
  /** As requested, in the client's order; labels without power of their own. */
  readonly scopes: readonly string[];
}
