import type { CompiledUpstreamOAuth } from '../../../shared/snapshot/compiled-upstream-oauth.ts';
import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import type { Configuration } from '../../configuration/configuration.ts';
import { ANY_ADDRESS } from '../../outbound/guarded-fetch.ts';
import type { UpstreamCallContext } from '../calls/upstream-calls.ts';
import { upstreamResource } from './upstream-resource.ts';

/** An upstream to which users connect. */
export interface Upstream {
  /** Name of its route. */
  readonly route: string;
  /** URL of its MCP endpoint. */
  readonly url: string;
  readonly oauth: CompiledUpstreamOAuth;
}

/** Returns the upstream of a route with upstream OAuth. */
export function upstreamOf(route: CompiledRoute): Upstream {
  const oauth = route.mcpServer?.upstreamOAuth;
  if (oauth === undefined) throw new Error(`${route.name} has no upstream OAuth`);
  return { route: route.name, url: upstreamResource(route), oauth };
}

/**
 * Returns which hosts may be asked for an upstream. Given endpoints are the operator's own word, as `to` is; all
 * other URLs come from outside, and need an entry in the settings (specification: Global MCP settings).
 */
export function callContextOf(
  { route, oauth }: Pick<Upstream, 'route' | 'oauth'>,
  { settings }: Pick<Configuration, 'settings'>,
  requestId: string | undefined,
): UpstreamCallContext {
  if (oauth.endpoints !== undefined) return { route, requestId, allowedCidrs: ANY_ADDRESS };
  return {
    route,
    requestId,
    allowedCidrs: settings.outboundAllowedCidrs,
    allowedDomains: settings.allowedAsMetadataDomains ?? [],
  };
}
