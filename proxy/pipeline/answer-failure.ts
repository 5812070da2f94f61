import type { Logger } from '../../shared/telemetry/logger.ts';
import { AuthorizationPageError } from '../errors/authorization-page-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { TokenRequiredError } from '../errors/authentication-errors.ts';
import { ClientGoneError } from '../errors/request-errors.ts';
import { PolicyDeniedError, ToolCallDeniedError } from '../errors/denial-errors.ts';
import { SignInFailedError, SignInRequiredError } from '../errors/authentication-errors.ts';
import { respondToError, type FailedRequest } from './respond-to-error.ts';
import { CROSS_ORIGIN_HEADERS } from '../http/cors.ts';
import type { RedirectToSignIn } from '../identity/sign-in/redirect-to-sign-in.ts';
import { apartFromOpener, withUnreadableUrl } from '../endpoints/apart-from-opener.ts';
import type { ErrorAudience } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { isNavigation, wantsPage } from '../http/is-navigation.ts';
import { challengeFor } from '../authorization-server/challenge.ts';
import type { KnownRequest } from './known-request.ts';

const FIRST_SERVER_ERROR = 500;

/** Makes the function that answers failed requests: people are redirected to sign in, others get errors. */
export function createFailureAnswers({
  logger,
  redirectToSignIn,
}: {
  readonly logger: Logger;
  readonly redirectToSignIn: RedirectToSignIn;
}): (error: unknown, known: KnownRequest) => GatewayResponse | undefined {
  return (error, known) => {
    if (error instanceof ClientGoneError) return undefined;
    logFailure(error, known, logger);
    const { request, host, route, configuration } = known;
    const asksToSignIn = error instanceof SignInRequiredError && request !== undefined;
    if (asksToSignIn && host !== undefined && isNavigation(request)) {
      const context = { request, configuration, origin: host.origin };
      const returnPath = request.path + request.query;
      return redirectToSignIn(context, { returnPath, provider: route?.compiled.identityProvider });
    }
    const response = apart(respondToError(error, failedRequest(known)), known);
    if (!isCrossOrigin(known)) return response;
    return { ...response, headers: { ...CROSS_ORIGIN_HEADERS, ...response.headers } };
  };
}

/**
 * Keeps the URL of a response from scripts where it may hold a code of the identity provider: at endpoints
 * with pages, and where the request was refused before its host was known.
 */
function apart(response: GatewayResponse, { endpoint, host }: KnownRequest): GatewayResponse {
  // Attack: a `state` that makes the URL too long.
  if (host === undefined) return withUnreadableUrl(response);
  return endpoint?.audience === 'page' ? apartFromOpener(response, host.routes) : response;
}

/** Logs failures, and why a request was refused. */
function logFailure(error: unknown, known: KnownRequest, logger: Logger): void {
  const { requestId, trace, route } = known;
  const fields = {
    'request-id': requestId,
    'trace-id': trace?.context.traceId,
    route: route?.compiled.name,
  };
  if (!(error instanceof GatewayError)) {
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error('request failed unexpectedly', { ...fields, stack }, error);
  } else if (error.status >= FIRST_SERVER_ERROR || needsOperator(error)) {
    logger.warn('request failed', { ...fields, reason: error.reason }, error);
  } else if (!isLoggedElsewhere(error, known)) {
    logger.info('request refused', { ...fields, reason: error.reason }, error);
  }
}

/** Returns whether a failure keeps users from signing in or connecting until an operator corrects it. */
function needsOperator(error: GatewayError): boolean {
  return error instanceof SignInFailedError || error instanceof AuthorizationPageError;
}

/** Returns whether a refusal is in the authorization log, or is how every sign-in begins. */
function isLoggedElsewhere(error: GatewayError, known: KnownRequest): boolean {
  // Nobody signs in where a web route asks for a token.
  if (error instanceof TokenRequiredError) return !error.tokenWasSent && !isWebRoute(known);
  return (
    error instanceof PolicyDeniedError ||
    error instanceof ToolCallDeniedError ||
    error instanceof SignInRequiredError
  );
}

function failedRequest(known: KnownRequest): FailedRequest {
  const { request } = known;
  return {
    requestId: known.requestId,
    audience: audienceOf(known),
    messageId: known.body?.message?.id ?? null,
    challenge: (tokenWasSent) => challenge(known, tokenWasSent),
    usedBasic: /^basic /i.test(request?.message.headers.authorization ?? ''),
  };
}

/** MCP clients learn where to get a token; other callers know it (RFC 6750, section 3). */
function challenge(known: KnownRequest, tokenWasSent: boolean): string {
  const { request, host } = known;
  if (isMcpRoute(known) && request !== undefined && host !== undefined) {
    return challengeFor(host.origin, request.path, tokenWasSent);
  }
  return tokenWasSent ? 'Bearer error="invalid_token"' : 'Bearer realm="gatehouse"';
}

function isWebRoute({ route }: KnownRequest): boolean {
  return route !== undefined && route.compiled.mcpServer === undefined;
}

function isMcpRoute({ route }: KnownRequest): boolean {
  return route?.compiled.mcpServer !== undefined;
}

function audienceOf({ endpoint, route, request }: KnownRequest): ErrorAudience {
  if (endpoint !== undefined && endpoint.audience !== 'text') return endpoint.audience;
  if (route?.compiled.mcpServer !== undefined) return 'json-rpc';
  return request !== undefined && wantsPage(request.message.headers) ? 'page' : 'text';
}

function isCrossOrigin({ endpoint, route }: KnownRequest): boolean {
  return endpoint?.crossOrigin ?? route?.compiled.mcpServer !== undefined;
}
