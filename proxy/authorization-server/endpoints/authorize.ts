import { randomToken } from '../../crypto/tokens.ts';
import { UnknownClientError } from '../../errors/authorization-page-errors.ts';
import { OAuthError } from '../../errors/oauth-errors.ts';
import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import { limitNetwork } from '../../endpoints/limit-rate.ts';
import { refuseEmbedded } from '../../endpoints/refuse-subresource.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { carriedTrace } from '../../http/carried-trace.ts';
import { networksOf } from '../../http/network-of.ts';
import { readForm } from '../../http/read-form.ts';
import { readParameters } from '../../http/read-parameters.ts';
import { seeOther } from '../../http/responses.ts';
import type { Stores } from '../../store/stores.ts';
import {
  clientIdOf,
  readAuthorizationRequest,
  responseTargetOf,
} from '../authorization-request.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import type { FindClient } from '../clients/find-client.ts';
import { PATHS } from '../../endpoints/paths.ts';
import { refuseAuthorization } from '../refuse-authorization.ts';
import { issuerOf } from '../resources.ts';

/** How long a user may take to sign in and decide. */
const PENDING_SECONDS = 600;

/** Limit per network. Attack: one party's requests must not push those of others out of the store. */
const REQUESTS = { limit: 1000, windowSeconds: 60 };

/** Options of the authorization endpoint. */
export interface AuthorizeOptions {
  readonly stores: Pick<Stores, 'pendingAuthorizations' | 'rateLimits'>;
  readonly findClient: FindClient;
  readonly logger: Logger;
}

/**
 * The authorization endpoint: checks the request and redirects the browser to the consent page.
 *
 * It does nothing in the name of a user, so following a stranger's link is harmless.
 */
export function createAuthorizeEndpoint(options: AuthorizeOptions): Endpoint {
  return {
    methods: ['GET', 'POST'],
    audience: 'page',
    crossOrigin: false,
    handle: (context) => authorize(context, options),
  };
}

async function authorize(
  context: EndpointContext,
  { stores, findClient, logger }: AuthorizeOptions,
): Promise<GatewayResponse> {
  const { origin, configuration, request } = context;
  refuseEmbedded(request);
  await limitNetwork(stores.rateLimits, 'authorize', request, REQUESTS);
  const parameters = await parametersOf(context);
  const client = await findClient(origin, clientIdOf(parameters), configuration.settings);
  if (client === null) throw new UnknownClientError();
  const target = responseTargetOf(parameters, client, origin);
  try {
    const valid = readAuthorizationRequest(parameters, client, target, issuerOf(context));
    const pending = { ...valid, ...carriedTrace(request) };
    const requestId = randomToken();
    const { endSite } = networksOf(request.remoteAddress);
    await stores.pendingAuthorizations.save(requestId, pending, PENDING_SECONDS, endSite);
    const consentOrigin = configuration.settings.authenticateOrigin ?? origin;
    return seeOther(`${consentOrigin}${PATHS.consent}?request=${requestId}`);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return refuseAuthorization(error, { client, target }, context, logger);
  }
}

/** Reads the parameters of a GET or of a posted form (RFC 6749, section 3.1). */
async function parametersOf({ request }: EndpointContext): Promise<URLSearchParams> {
  if (request.method === 'POST') return readForm(request.message);
  return readParameters(request.query);
}
