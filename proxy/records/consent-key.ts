/** Identifies a consent: a different value of any member needs a consent of its own. */
export interface ConsentKey {
  readonly provider: string;
  /** Issuer of the identity provider; `issuer` is the authorization server's. */
  readonly providerIssuer: string | undefined;
  readonly subject: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}
