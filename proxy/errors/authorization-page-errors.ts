import { GatewayError } from './gateway-error.ts';

/**
 * An authorization request that must not be answered by a redirect, since its client or redirect URI is
 * not verified. Shown on a page.
 */
export class AuthorizationPageError extends GatewayError {
  override readonly name: string = 'AuthorizationPageError';
  override readonly reason: string;
  override readonly status = 400;
  /** The text of the page: for the user and the client's developer. */
  readonly explanation: string;

  constructor(reason: string, explanation: string, options?: ErrorOptions) {
    super(explanation, options);
    this.reason = reason;
    this.explanation = explanation;
  }
}

/** The domain of a URL client ID is not in `mcp_allowed_client_id_domains` (specification: Errors). */
export class ClientIdDomainNotAllowedError extends AuthorizationPageError {
  override readonly name = 'ClientIdDomainNotAllowedError';
  readonly clientId: string;

  constructor(clientId: string) {
    super(
      'client-id-domain-not-allowed',
      'The administrator restricted the list of MCP client ID document domains, and the domain of this client is not among them.',
    );
    this.clientId = clientId;
  }
}

/**
 * No client has the client ID of an authorization request.
 *
 * Shown on a page, since the redirect URI could be anybody's (OAuth 2.1, section 4.1.2.1).
 */
export class UnknownClientError extends AuthorizationPageError {
  override readonly name = 'UnknownClientError';

  constructor() {
    super(
      'client-unknown',
      'The application is not known here. It may have been registered too long ago without being used; let it connect anew.',
    );
  }
}
