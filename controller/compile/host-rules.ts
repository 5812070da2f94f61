import { matchesDomainPattern } from '../../shared/snapshot/domain-pattern.ts';

/** Hosts that only routes of these namespaces may use. */
export interface HostRule {
  readonly namespaces: readonly string[];
  /** Hosts, or wildcards for their subdomains. */
  readonly hosts: readonly string[];
}

/**
 * Whether routes of a namespace may use a host: if rules cover it, one of them has to name the namespace.
 *
 * Attack: a wildcard above the hosts of a rule would serve those of them that have no route.
 */
export function mayHaveHost(rules: readonly HostRule[], namespace: string, host: string): boolean {
  const covering = rules.filter(({ hosts }) => hosts.some((pattern) => covers(pattern, host)));
  const below = rules.filter(({ hosts }) => hosts.some((pattern) => covers(host, pattern)));
  const allows = ({ namespaces }: HostRule): boolean => namespaces.includes(namespace);
  return (covering.length === 0 || covering.some(allows)) && below.every(allows);
}

/** Whether a rule for a namespace names exactly this host. */
export function isHostNamed(rules: readonly HostRule[], namespace: string, host: string): boolean {
  return rules.some(
    ({ namespaces, hosts }) => namespaces.includes(namespace) && hosts.includes(host),
  );
}

/** Whether a pattern is a host, or a wildcard above it, which may be a wildcard too. */
function covers(pattern: string, host: string): boolean {
  return pattern === host || (pattern.startsWith('*.') && matchesDomainPattern(host, [pattern]));
}
