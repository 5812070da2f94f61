import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { WellKnowns } from '../endpoints/find-endpoint.ts';
import { PATHS } from '../endpoints/paths.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { json } from '../http/responses.ts';
import { authorizationServerMetadata, openIdConfiguration } from './metadata.ts';
import { isPathOfAuthorizationServer, protectedResourceMetadata } from './resource-metadata.ts';
import { issuerOf, type Issuer } from './resources.ts';

/** Short, so that clients see a changed configuration within minutes. */
const CACHED = { 'cache-control': 'public, max-age=300' };

type Document = Readonly<Record<string, unknown>>;

type Describe = (issuer: Issuer, path: string, settings: CompiledSettings) => Document | null;

/**
 * The issuer of an authorization server has no path. Clients of the first MCP revisions insert the path
 * of the MCP URL nevertheless, so it is accepted if it belongs to an MCP route.
 */
const WELL_KNOWNS: Readonly<Record<string, Describe>> = {
  [PATHS.protectedResource]: protectedResourceMetadata,
  [PATHS.authorizationServer]: (issuer, path, settings) =>
    isPathOfAuthorizationServer(issuer, path)
      ? authorizationServerMetadata(issuer.origin, settings)
      : null,
  [PATHS.openIdConfiguration]: (issuer, path, settings) =>
    isPathOfAuthorizationServer(issuer, path) ? openIdConfiguration(issuer.origin, settings) : null,
};

const WELL_KNOWN_PATHS = Object.keys(WELL_KNOWNS);

/** The documents by which clients find the authorization server of a host. */
export const OAUTH_WELL_KNOWNS: WellKnowns = {
  owns: (path) => wellKnownOf(path) !== undefined,
  endpoint: {
    methods: ['GET'],
    audience: 'text',
    crossOrigin: true,
    handle: (context) => Promise.resolve(wellKnownDocument(context)),
  },
};

function wellKnownDocument(context: EndpointContext): GatewayResponse {
  const { path } = context.request;
  const name = wellKnownOf(path);
  const describe = name === undefined ? undefined : WELL_KNOWNS[name];
  const { settings } = context.configuration;
  const document = describe?.(issuerOf(context), path.slice(name?.length), settings) ?? null;
  return document === null
    ? json(404, { error: 'not_found', request_id: context.request.id })
    : json(200, document, CACHED);
}

function wellKnownOf(path: string): string | undefined {
  return WELL_KNOWN_PATHS.find((name) => path === name || path.startsWith(`${name}/`));
}
