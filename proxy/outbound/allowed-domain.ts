import { matchesDomainPattern } from '../../shared/snapshot/domain-pattern.ts';

/**
 * Returns whether the host of a URL is on one of the domains that a setting lists (specification: Global
 * MCP settings, rules 1 to 4). An empty list allows nothing; neither does a text that is not a URL match.
 */
export function isOnAllowedDomain(url: string, domains: readonly string[]): boolean {
  const host = URL.parse(url)?.hostname ?? '';
  return matchesDomainPattern(host, domains);
}
