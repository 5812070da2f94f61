/** What an authorization code was issued for. */
export interface AuthorizationCode {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The request named it, so the token request must too (RFC 6749, 4.1.3). */
  readonly redirectUriWasSent?: boolean;
  readonly codeChallenge: string;
  readonly sessionId: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** Id of the grant its redemption makes; known before, so that reuse can revoke it. */
  readonly grantId: string;
}
