import { createHash } from 'node:crypto';

import type { CompiledUpstreamOAuth } from '../../shared/snapshot/compiled-upstream-oauth.ts';
import { matchesDomainPattern } from '../../shared/snapshot/domain-pattern.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { UpstreamAuthVerdict } from './compilation.ts';

/**
 * Returns what is known of the upstream OAuth of a route; undefined if it has none. `domains` are those that
 * discovery may ask.
 */
export function upstreamAuthVerdict(
  route: CompiledRoute | undefined,
  domains: readonly string[],
): UpstreamAuthVerdict | undefined {
  const { mcpServer, upstream } = route ?? {};
  if (mcpServer?.upstreamOAuth === undefined || upstream === undefined) return undefined;
  const { path, upstreamOAuth } = mcpServer;
  const unlistedHost = unlistedHostOf(upstream, upstreamOAuth, domains);
  const configuration = [upstream, path, upstreamOAuth, unlistedHost];
  return {
    configuration: createHash('sha256').update(JSON.stringify(configuration)).digest('hex'),
    ...(unlistedHost !== undefined && { unlistedHost }),
  };
}

/** Whether the hosts that an upstream names are listed is known only once it was asked. */
function unlistedHostOf(
  upstream: string,
  { endpoints, fallbackIssuer }: CompiledUpstreamOAuth,
  domains: readonly string[],
): string | undefined {
  if (endpoints !== undefined) return undefined;
  const host = hostOf(upstream);
  const hosts = fallbackIssuer === undefined ? [host] : [host, hostOf(fallbackIssuer)];
  return hosts.some((one) => matchesDomainPattern(one, domains)) ? undefined : host;
}

function hostOf(url: string): string {
  return new URL(url).hostname;
}
