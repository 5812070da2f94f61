const GATEWAY_COOKIE = /^(?:__Host-|__Secure-)?gatehouse(?:-|$)/;

/** Whether a cookie is the gateway's own: no upstream gets it, and none may set it. */
export function isGatewayCookie(name: string): boolean {
  return GATEWAY_COOKIE.test(name);
}

/** A `Cookie` value without the gateway's cookies, the others byte for byte; empty when none is left. */
export function withoutGatewayCookies(value: string): string {
  if (!value.includes('gatehouse')) return value;
  const pairs = value.split(';');
  const others = pairs.filter((pair) => !isGatewayCookie(nameOf(pair)));
  if (others.length === pairs.length) return value;
  return others.join(';').trim();
}

/**
 * Name of the cookie in a `name=value` pair, or in a `Set-Cookie` value. Where it is empty, what the
 * value begins with: browsers send such a cookie as its bare value, which then reads as a pair.
 */
export function nameOf(pair: string): string {
  const [name = ''] = pair.replace(/^[\s=]+/, '').split(/[=;]/, 1);
  return name.trim();
}
