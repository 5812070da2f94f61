import type { GatewayRoute } from '../configuration/routing-table.ts';
import { isGatewayToken } from '../crypto/gateway-token.ts';
import { SeveralCredentialsError, TokenRequiredError } from '../errors/authentication-errors.ts';
import { hasSessionCookie } from '../http/cookies.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { RequestMessage } from '../http/request-message.ts';
import { rawHeaderValues } from '../mcp/raw-header.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import { acceptedCredentials } from './accepted-credentials.ts';
import type { AuthenticationContext, Authenticator } from './authenticator.ts';
import { sentBearer } from './bearer-token.ts';
import type { Caller } from './caller.ts';
import { VerifiedTokens, type VerifiedTokensOptions } from './verified-tokens.ts';

/** Options of a `BearerTokenAuthenticator`. */
export interface BearerTokenAuthenticatorOptions extends VerifiedTokensOptions {
  /** Authenticates the gateway's own external tokens, on MCP routes. */
  readonly externalTokens: Authenticator;
}

/**
 * Authenticates callers of routes whose bearer token format interprets tokens (specification: Bearer token
 * format rules). Nobody is ever redirected to sign in there.
 */
export class BearerTokenAuthenticator implements Authenticator {
  readonly #verifiedTokens: VerifiedTokens;
  readonly #externalTokens: Authenticator;

  constructor({ externalTokens, ...options }: BearerTokenAuthenticatorOptions) {
    this.#verifiedTokens = new VerifiedTokens(options);
    this.#externalTokens = externalTokens;
  }

  /**
   * See `Authenticator`. Throws or rejects with a `SeveralCredentialsError`, a `TokenRequiredError`, or an
   * error of `VerifiedTokens`.
   */
  authenticate(
    request: GatewayRequest,
    route: GatewayRoute,
    context: AuthenticationContext,
  ): Caller | Promise<Caller> {
    const accepted = acceptedCredentials(route.compiled, context.configuration);
    if (accepted.kind !== 'bearer-token') throw new Error('the route interprets no tokens');
    const { message, remoteAddress } = request;
    const sent = onlyBearer(message, context.origin);
    if (accepted.orExternalToken && isGatewayToken('external', sent)) {
      return this.#externalTokens.authenticate(request, route, context);
    }
    const { configuration } = context;
    return this.#verifiedTokens.callerOf(sent, accepted.use, { configuration, remoteAddress });
  }
}

/**
 * Returns what followed `Bearer`. Refuses a request with several credentials: the gateway and the upstream
 * could take different ones for the caller's.
 */
function onlyBearer(message: RequestMessage, origin: Origin): string {
  if (rawHeaderValues(message.rawHeaders, 'authorization').length > 1) {
    const text = 'the request has several Authorization fields; send one';
    throw new SeveralCredentialsError('several-authorizations', text);
  }
  const sent = sentBearer(message);
  if (sent === undefined) throw new TokenRequiredError('no-token', { tokenWasSent: false });
  // By name, whether or not it is valid (specification: Bearer token format rules, 1).
  if (hasSessionCookie(message, origin)) {
    const text = 'the request has a session cookie and a bearer token; send one of them';
    throw new SeveralCredentialsError('cookie-and-bearer-token', text);
  }
  return sent;
}
