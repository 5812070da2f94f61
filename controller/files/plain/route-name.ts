const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
const MAX_LENGTH = 253;

/**
 * Derives the name of a route without a name from its URL and path, so that it does not depend on the
 * place of the route in the list. Returns undefined if `from` is not a URL.
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
