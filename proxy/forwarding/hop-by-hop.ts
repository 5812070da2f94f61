/** Fields about one connection (RFC 9110, section 7.6.1). Undici and Node write their own. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Returns whether intermediaries drop a field of this lower-case name. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name);
}

/** Returns the fields that a `Connection` value lists, in lower case; undefined if it lists none. */
export function listedInConnection(value: string | undefined): ReadonlySet<string> | undefined {
  if (value === undefined || /^(?:keep-alive|close)$/i.test(value)) return undefined;
  return new Set(value.split(',').map((option) => option.trim().toLowerCase()));
}
