import { InvalidRequestError } from '../errors/oauth-errors.ts';
import { BadRequestError } from '../errors/request-errors.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { readForm } from '../http/read-form.ts';
import type { Stores } from '../store/stores.ts';
import type { ClientRequest } from './clients/authenticate-client.ts';
import type { Client } from '../records/client.ts';
import { limitNetwork } from '../endpoints/limit-rate.ts';
import { PATHS } from '../endpoints/paths.ts';

/** Limit of metadata documents that one network makes the gateway fetch for unauthenticated clients. */
const FETCHES = { limit: 60, windowSeconds: 60 };

/** Limit of assertions that one network makes the gateway verify: twice what one client may use. */
const ASSERTIONS_OF_NETWORK = { limit: 600, windowSeconds: 60 };

/** Options of `authenticateFormClient`. */
export interface ClientAuthentication {
  readonly stores: Pick<Stores, 'rateLimits'>;
  readonly authenticateClient: (request: ClientRequest) => Promise<Client>;
}

/** A form that an authenticated client posted. */
export interface ClientForm {
  readonly client: Client;
  readonly parameters: URLSearchParams;
}

/**
 * Reads the form that a client posts to the token or revocation endpoint, and authenticates the client.
 *
 * Parameters in the query are refused, because queries end up in logs (OAuth 2.1, section 2.4.1).
 */
export async function authenticateFormClient(
  { request, origin, configuration }: EndpointContext,
  { authenticateClient, stores: { rateLimits } }: ClientAuthentication,
): Promise<ClientForm> {
  if (request.query.length > 1) throw new InvalidRequestError('parameters belong in the body');
  const parameters = await readFormOf(request.message);
  const client = await authenticateClient({
    issuer: origin,
    tokenEndpointUrl: origin + PATHS.token,
    authorization: request.message.headers.authorization,
    form: parameters,
    settings: configuration.settings,
    beforeFetch: () => limitNetwork(rateLimits, 'fetch', request, FETCHES),
    beforeVerifying: () => limitNetwork(rateLimits, 'assertion', request, ASSERTIONS_OF_NETWORK),
  });
  return { client, parameters };
}

async function readFormOf(message: GatewayRequest['message']): Promise<URLSearchParams> {
  try {
    return await readForm(message);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    throw new InvalidRequestError(error.message, { cause: error });
  }
}
