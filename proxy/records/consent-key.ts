/** What a user agreed to. Another value in any member is another consent. */
export interface ConsentKey {
  readonly provider: string;
  readonly subject: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}
