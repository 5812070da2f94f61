/**
 * Whether a host name matches one of the patterns.
 *
 * `*.example.com` matches subdomains of any depth and never `example.com` itself (specification:
 * Global MCP settings, rule 1). Comparison ignores case; an empty list matches nothing.
 */
export function matchesDomainPattern(host: string, patterns: readonly string[]): boolean {
  const name = host.toLowerCase();
  return patterns.some((pattern) => matches(name, pattern.toLowerCase()));
}

function matches(name: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return name === pattern;
  const suffix = pattern.slice(1);
  return name.length > suffix.length && name.endsWith(suffix);
}
