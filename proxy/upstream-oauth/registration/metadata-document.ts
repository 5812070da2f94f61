import type { AuthorizationServer } from 'oauth4webapi';

import type { Endpoint, EndpointContext } from '../../endpoints/endpoint.ts';
import { PATHS } from '../../endpoints/paths.ts';
import { RouteNotFoundError } from '../../errors/routing-errors.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { json } from '../../http/responses.ts';
import type { Origin } from '../../../shared/snapshot/origin.ts';
import { clientMetadata } from './client-metadata.ts';

/** Short, so that a changed document counts within minutes. */
const CACHED = { 'cache-control': 'public, max-age=300' };

/** Returns the URL of the gateway's metadata document at a route host: its client ID there. */
export function metadataDocumentUrl(origin: Origin): string {
  return origin + PATHS.upstreamClientMetadata;
}

/**
 * Returns whether an authorization server takes the gateway's metadata document as a client. The document is on
 * https, and the gateway authenticates by PKCE alone; a server that lists only other methods wants a secret.
 */
export function takesMetadataDocument(server: AuthorizationServer, origin: Origin): boolean {
  if (server['client_id_metadata_document_supported'] !== true) return false;
  if (!origin.startsWith('https:')) return false;
  const methods = server.token_endpoint_auth_methods_supported;
  const isPublicRefused = methods !== undefined && !methods.includes('none');
  return !isPublicRefused || server.registration_endpoint === undefined;
}

/**
 * Makes the endpoint of the gateway's client ID metadata document, which authorization servers of upstreams
 * read. It is on hosts with a route that has no credentials of its own for its upstream.
 *
 * @see {@link https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document OAuth Client ID Metadata Document}
 */
export function createClientMetadataEndpoint(): Endpoint {
  return {
    methods: ['GET'],
    audience: 'text',
    crossOrigin: false,
    handle: (context) => Promise.resolve(metadataDocument(context)),
  };
}

function metadataDocument({ request, origin, configuration }: EndpointContext): GatewayResponse {
  const servers = configuration.routes.findHost(request.authority)?.mcpServers ?? [];
  const isUsed = servers.some(({ compiled: { mcpServer } }) => {
    const oauth = mcpServer?.upstreamOAuth;
    return oauth !== undefined && oauth.client === undefined;
  });
  if (!isUsed) throw new RouteNotFoundError(404, 'no route of this host needs the document');
  const members = { client_id: metadataDocumentUrl(origin), ...clientMetadata(origin, 'none') };
  return json(200, members, CACHED);
}
