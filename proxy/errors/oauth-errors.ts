import { GatewayError } from './gateway-error.ts';

/**
 * An error response of the token, registration, revocation or authorization endpoint.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6749#section-5.2 RFC 6749, section 5.2}
 */
export abstract class OAuthError extends GatewayError {
  /** The `error` member of the response. */
  abstract readonly code: string;
  override readonly status: number = 400;
  /** The `error_description` member: written for the client's developer, never from user input. */
  readonly description: string;

  constructor(description: string, options?: ErrorOptions) {
    super(description, options);
    this.description = description;
  }

  override get reason(): string {
    return this.code.replaceAll('_', '-');
  }
}

/** A parameter is missing, repeated or malformed. */
export class InvalidRequestError extends OAuthError {
  override readonly name = 'InvalidRequestError';
  override readonly code = 'invalid_request';
}

/** The client is unknown, or did not authenticate (RFC 6749, section 5.2). */
export class InvalidClientError extends OAuthError {
  override readonly name = 'InvalidClientError';
  override readonly code = 'invalid_client';
  override readonly status = 401;
}

/** The code or refresh token is unknown, expired, used, or belongs to another client. */
export class InvalidGrantError extends OAuthError {
  override readonly name = 'InvalidGrantError';
  override readonly code = 'invalid_grant';
}

/** The client may not use this grant type. */
export class UnauthorizedClientError extends OAuthError {
  override readonly name = 'UnauthorizedClientError';
  override readonly code = 'unauthorized_client';
}

/** The token endpoint does not support this grant type. */
export class UnsupportedGrantTypeError extends OAuthError {
  override readonly name = 'UnsupportedGrantTypeError';
  override readonly code = 'unsupported_grant_type';
}

/** The authorization endpoint supports only `response_type=code`. */
export class UnsupportedResponseTypeError extends OAuthError {
  override readonly name = 'UnsupportedResponseTypeError';
  override readonly code = 'unsupported_response_type';
}

/** The scope is malformed or exceeds what was granted. */
export class InvalidScopeError extends OAuthError {
  override readonly name = 'InvalidScopeError';
  override readonly code = 'invalid_scope';
}

/** `resource` is malformed or names no route of this issuer (RFC 8707, section 2). */
export class InvalidTargetError extends OAuthError {
  override readonly name = 'InvalidTargetError';
  override readonly code = 'invalid_target';
}

/** The user denied the request. */
export class AccessDeniedError extends OAuthError {
  override readonly name = 'AccessDeniedError';
  override readonly code = 'access_denied';
}

/** `prompt=none`, and no user is signed in (OpenID Connect Core, section 3.1.2.6). */
export class LoginRequiredError extends OAuthError {
  override readonly name = 'LoginRequiredError';
  override readonly code = 'login_required';
}

/** `prompt=none`, and the user has to decide (OpenID Connect Core, section 3.1.2.6). */
export class ConsentRequiredError extends OAuthError {
  override readonly name = 'ConsentRequiredError';
  override readonly code = 'consent_required';
}

/** `prompt=none`, and the user has to do something (OpenID Connect Core, section 3.1.2.6). */
export class InteractionRequiredError extends OAuthError {
  override readonly name = 'InteractionRequiredError';
  override readonly code = 'interaction_required';
}

/** Something on which the answer depends has failed (RFC 6749, section 4.1.2.1). */
export class ServerError extends OAuthError {
  override readonly name = 'ServerError';
  override readonly code = 'server_error';
}

/** Something that the request needs is unavailable at present; nothing was consumed. */
export class TemporarilyUnavailableError extends OAuthError {
  override readonly name = 'TemporarilyUnavailableError';
  override readonly code = 'temporarily_unavailable';
  override readonly status = 503;
}

/** Registration metadata are malformed (RFC 7591, section 3.2.2). */
export class InvalidClientMetadataError extends OAuthError {
  override readonly name = 'InvalidClientMetadataError';
  override readonly code = 'invalid_client_metadata';
}

/** A redirect URI is malformed or not allowed (RFC 7591, section 3.2.2). */
export class InvalidRedirectUriError extends OAuthError {
  override readonly name = 'InvalidRedirectUriError';
  override readonly code = 'invalid_redirect_uri';
}
