import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { json } from '../http/responses.ts';
import { authorizationServerMetadata, openIdConfiguration } from './metadata.ts';
import {
  isRootOrMcpPath,
  protectedResourceMetadata,
  RESOURCE_METADATA_PATH,
} from './resource-metadata.ts';
import { issuerOf, type Issuer } from './resources.ts';

/** Short, so that clients notice within minutes when the configuration moves. */
const CACHED = { 'cache-control': 'public, max-age=300' };

type Document = Readonly<Record<string, unknown>>;

type Describe = (issuer: Issuer, path: string, settings: CompiledSettings) => Document | null;

/**
 * The authorization server's issuer has no path. Clients of the first MCP revisions insert the path
 * of the MCP URL all the same, so it is accepted where it names an MCP route.
 */
const WELL_KNOWNS: Readonly<Record<string, Describe>> = {
  [RESOURCE_METADATA_PATH]: protectedResourceMetadata,
  '/.well-known/oauth-authorization-server': (issuer, path, settings) =>
    isRootOrMcpPath(issuer, path) ? authorizationServerMetadata(issuer.origin, settings) : null,
  '/.well-known/openid-configuration': (issuer, path, settings) =>
    isRootOrMcpPath(issuer, path) ? openIdConfiguration(issuer.origin, settings) : null,
};

const WELL_KNOWN_PATHS = Object.keys(WELL_KNOWNS);

/** Whether the gateway answers this path itself on hosts that have an MCP route. */
export function isOAuthWellKnown(path: string): boolean {
  return wellKnownOf(path) !== undefined;
}

/**
 * Answers with the documents by which clients find the authorization server: `GET` on every path
 * that `isOAuthWellKnown` tells.
 */
export function answerWellKnown(context: EndpointContext): Promise<GatewayResponse> {
  const { path } = context.request;
  const name = wellKnownOf(path);
  const describe = name === undefined ? undefined : WELL_KNOWNS[name];
  const { settings } = context.configuration;
  const document = describe?.(issuerOf(context), path.slice(name?.length), settings) ?? null;
  if (document === null) return Promise.resolve(json(404, { error: 'not_found' }));
  return Promise.resolve(json(200, document, CACHED));
}

function wellKnownOf(path: string): string | undefined {
  return WELL_KNOWN_PATHS.find((name) => path === name || path.startsWith(`${name}/`));
}
