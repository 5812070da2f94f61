import type { ApplicationTokenAuthenticator } from '../authentication/application-token-authenticator.ts';
import { hashToken } from '../crypto/tokens.ts';
import type { Endpoint, EndpointContext } from '../endpoints/endpoint.ts';
import { limitRate } from '../endpoints/limit-rate.ts';
import { PATHS } from '../endpoints/paths.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { json } from '../http/responses.ts';
import type { Identity } from '../records/session.ts';
import { userKey } from '../records/user-key.ts';
import type { Stores } from '../store/stores.ts';
import type { UserConnections } from './connections.ts';
import { disconnectServers } from './disconnect-servers.ts';
import { listServers } from './list-servers.ts';
import { readServers } from './read-servers.ts';

/** What the applications of one user may ask. An answer evaluates the policies of all MCP servers. */
const REQUESTS = { limit: 120, windowSeconds: 60 };

/** Options of the endpoints for applications. */
export interface ApplicationEndpointOptions {
  readonly applications: Pick<ApplicationTokenAuthenticator, 'authenticate'>;
  readonly stores: Pick<Stores, 'rateLimits'>;
  readonly connections: UserConnections;
}

/**
 * Makes the endpoints that backends of applications call with the external token they got, by path (specification:
 * Endpoints): the list of MCP servers, and disconnecting from some of them.
 */
export function createApplicationEndpoints(
  options: ApplicationEndpointOptions,
): Readonly<Record<string, Endpoint>> {
  return {
    [PATHS.routes]: endpoint('GET', (identity, context) => answer(identity, context, options)),
    [PATHS.disconnect]: endpoint('POST', async (identity, context) => {
      const servers = await readServers(context);
      await disconnectServers(identity, servers, options.connections, context);
      return answer(identity, context, options);
    }),
  };

  function endpoint(
    method: 'GET' | 'POST',
    handle: (identity: Identity, context: EndpointContext) => Promise<GatewayResponse>,
  ): Endpoint {
    return {
      methods: [method],
      audience: 'text',
      crossOrigin: false,
      async handle(context) {
        const { session } = await options.applications.authenticate(context.request, context);
        const user = hashToken(userKey(session.identity));
        await limitRate(options.stores.rateLimits, `applications-of:${user}`, REQUESTS);
        return handle(session.identity, context);
      },
    };
  }
}

async function answer(
  identity: Identity,
  { configuration }: EndpointContext,
  { connections }: ApplicationEndpointOptions,
): Promise<GatewayResponse> {
  return json(200, { servers: await listServers(identity, configuration, connections) });
}
