const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
const MAX_LENGTH = 253;

/**
 * The name of a route that gives itself none: made of what it serves, so that it stays the same
 * wherever the route stands in the list. Undefined when `from` is no URL.
 */
export function routeName(route: Readonly<Record<string, unknown>>): string | undefined {
  const { from, prefix, path, regex } = route;
  if (typeof from !== 'string' || !URL.canParse(from)) return undefined;
  const { protocol, hostname, port } = new URL(from);
  const words = [
    hostname.replace(/^\*/, 'wildcard'),
    port === DEFAULT_PORTS[protocol] ? '' : port,
    ...[prefix, path, regex].map((match) => (typeof match === 'string' ? match : '')),
    path === undefined ? '' : 'exactly',
    regex === undefined ? '' : 'regex',
  ];
  const name = words
    .map((word) =>
      word
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .replaceAll(/^-|-$/g, ''),
    )
    .filter((word) => word !== '')
    .join('-');
  return name === '' ? undefined : name.slice(0, MAX_LENGTH).replace(/-$/, '');
}
