import { TokenRequiredError } from '../errors/authentication-errors.ts';
import type { UnusableClaims } from '../identity-provider/identity-from-claims.ts';

/** Why a token of an identity provider does not identify a user. */
export type TokenRefusal =
  | 'token-too-long'
  /** Not a JWT where only a JWT can be verified, or not a well-formed one. */
  | 'malformed-token'
  /** A token of another type, such as an identity token where an access token is needed. */
  | 'wrong-token-type'
  /** No signature, a symmetric one, or one of an unknown algorithm. */
  | 'algorithm-refused'
  /** The provider has no such key. */
  | 'unknown-key'
  /** The token does not say which of several keys signed it. */
  | 'ambiguous-key'
  | 'bad-signature'
  | 'unknown-issuer'
  /** A claim that is needed is absent, or is of another type. */
  | 'incomplete-claims'
  | 'token-expired'
  | 'token-not-yet-valid'
  /** Audiences are required, and the token has none. */
  | 'no-audience'
  | 'wrong-audience'
  /** Issued to another client of the provider. */
  | 'other-client'
  /** Nothing says to which client the token was issued. */
  | 'unbound-token'
  /** Valid only with a proof of possession (RFC 7800), which bearers do not send. */
  | 'sender-constrained'
  /** The provider does not know the token, or does not accept it any more. */
  | 'inactive-token'
  /** Userinfo is about another user. */
  | 'other-subject'
  | UnusableClaims;

/** A bearer token was refused: 401. */
export class TokenRefusedError extends TokenRequiredError {
  declare readonly reason: TokenRefusal;

  constructor(reason: TokenRefusal) {
    super(reason, { tokenWasSent: true });
  }
}
