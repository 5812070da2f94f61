import type { OAuthError } from '../errors/oauth-errors.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { seeOther } from '../http/responses.ts';
import type { Client } from '../records/client.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { errorRedirect, type ResponseTarget } from './authorization-response.ts';
import { redirectTarget } from './clients/redirect-uri.ts';
import { authorizationErrorPage } from './pages.ts';

/** The authorization request that is refused: who asked, and where the answer goes. */
export interface RefusedAuthorization {
  readonly client: Client;
  readonly target: ResponseTarget;
}

/**
 * Reports an error to the client by a redirect, although the user has not interacted yet, and logs it: the
 * log is where an operator looks for the reason.
 *
 * Attack: open redirector (OAuth 2.1, section 7.12.2). The redirect goes only to this computer, to an
 * application, or to a client of a domain that the administrator allows; otherwise a page is shown.
 */
export function refuseAuthorization(
  error: OAuthError,
  { client, target }: RefusedAuthorization,
  { request }: Pick<EndpointContext, 'request'>,
  logger: Logger,
): GatewayResponse {
  request.trace?.span?.recordError(error);
  logger.info('request refused', { 'request-id': request.id, reason: error.reason }, error);
  const location = errorRedirect(target, error);
  const { isLoopback } = redirectTarget(target.redirectUri);
  const isWebsite = target.redirectUri.startsWith('https:') && !isLoopback;
  if (!isWebsite || client.source === 'metadata-document') return seeOther(location);
  const { redirectUri } = target;
  return authorizationErrorPage(error.description, {
    redirectUri,
    location,
    requestId: request.id,
  });
}
