/** Length of the `*.` that begins a wildcard. */
const WILDCARD_LENGTH = 2;

/**
 * Whether a certificate for `names` covers a host, or a wildcard, as clients judge it: the `*` of a certificate
 * stands for exactly one label (RFC 6125, section 6.4.3). All are in lower case; IPv6 is in brackets.
 */
export function coversHost(names: readonly string[], host: string): boolean {
  return names.some((name) => name === host || isBelow(host, name));
}

function isBelow(host: string, name: string): boolean {
  if (!name.startsWith('*.') || host.startsWith('*.')) return false;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot + 1) === name.slice(WILDCARD_LENGTH);
}
