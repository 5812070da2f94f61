import { randomToken } from '../../crypto/tokens.ts';
import { AuthorizationPageError } from '../../errors/authorization-page-errors.ts';
import { OAuthError } from '../../errors/oauth-errors.ts';
import { TooManyRequestsError } from '../../errors/request-errors.ts';
import type { EndpointContext, EndpointHandler } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { networkOf } from '../../http/network-of.ts';
import { readForm } from '../../http/read-form.ts';
import { seeOther } from '../../http/responses.ts';
import type { Stores } from '../../store/stores.ts';
import {
  clientIdOf,
  readAuthorizationRequest,
  responseTargetOf,
} from '../authorization-request.ts';
import { errorRedirect, type ResponseTarget } from '../authorization-response.ts';
import type { Client } from '../../records/client.ts';
import { redirectTarget } from '../clients/redirect-uri.ts';
import type { FindClient } from '../clients/find-client.ts';
import { OAUTH_PATHS } from '../../endpoints/oauth-paths.ts';
import { authorizationErrorPage } from '../pages.ts';
import { issuerOf } from '../resources.ts';

/** How long a user may take to sign in and decide. */
const PENDING_SECONDS = 600;

/** Per network: a stranger's requests must not push those of others out of the store. */
const REQUESTS = { limit: 1000, windowSeconds: 60 };

interface Dependencies {
  readonly stores: Pick<Stores, 'pendingAuthorizations' | 'rateLimits'>;
  readonly findClient: FindClient;
}

/**
 * The authorization endpoint: checks the request and sends the browser on to the consent page.
 *
 * It knows nothing of the user, so a stranger's link does no more than ask a question.
 */
export function createAuthorizeEndpoint({ stores, findClient }: Dependencies): EndpointHandler {
  return async (context) => {
    const { origin, configuration, request } = context;
    const network = networkOf(request.remoteAddress);
    const secondsToWait = await stores.rateLimits.take(`authorize:${network}`, REQUESTS);
    if (secondsToWait > 0) throw new TooManyRequestsError(secondsToWait);
    const parameters = await parametersOf(context);
    const clientId = clientIdOf(parameters);
    const client = await findClient(origin, clientId, configuration.settings);
    if (client === null) throw unknownClient();
    const target = responseTargetOf(parameters, client, origin);
    try {
      const issuer = issuerOf(context);
      const pending = readAuthorizationRequest(parameters, client, target, issuer);
      const requestId = randomToken();
      await stores.pendingAuthorizations.save(requestId, pending, PENDING_SECONDS);
      const consentOrigin = configuration.settings.authenticateOrigin ?? origin;
      return seeOther(`${consentOrigin}${OAUTH_PATHS.consent}?request=${requestId}`);
    } catch (error) {
      if (error instanceof OAuthError) return refuse(error, client, target);
      throw error;
    }
  };
}

/** By GET or by a posted form (RFC 6749, section 3.1). */
async function parametersOf({ request }: EndpointContext): Promise<URLSearchParams> {
  if (request.method === 'POST') return readForm(request.message);
  return new URLSearchParams(request.query);
}

/** Never a redirect: the redirect URI is anybody's (OAuth 2.1, section 4.1.2.1). */
export function unknownClient(): AuthorizationPageError {
  return new AuthorizationPageError(
    'client-unknown',
    'The application is not known here. It may have been registered too long ago without being used; let it connect anew.',
  );
}

/**
 * Tells the client of an error the user has had no part in.
 *
 * Only where that cannot make this host an open redirector (OAuth 2.1, section 7.12.2): to this
 * computer, to an application, or to a client of a domain that the administrator allows.
 */
function refuse(error: OAuthError, client: Client, target: ResponseTarget): GatewayResponse {
  const location = errorRedirect(target, error);
  const { isLoopback } = redirectTarget(target.redirectUri);
  const isWebsite = target.redirectUri.startsWith('https:') && !isLoopback;
  if (!isWebsite || client.source === 'metadata-document') return seeOther(location);
  return authorizationErrorPage(error.description, target.redirectUri, location);
}
