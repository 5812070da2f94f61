import { isGatewayCookie } from '../http/cookies.ts';

/** Removes the gateway's cookies from a `Cookie` value; empty if no other cookie is left. */
export function withoutGatewayCookies(value: string): string {
  if (!value.includes('gatehouse')) return value;
  const pairs = value.split(';');
  const others = pairs.filter((pair) => !isGatewayCookie(nameOf(pair)));
  if (others.length === pairs.length) return value;
  return others.join(';').trim();
}

/**
 * Returns the name of the cookie in a `name=value` pair or a `Set-Cookie` value. If the name is empty,
 * returns the beginning of the value: browsers send such a cookie as its bare value, which then reads
 * as a pair.
 */
export function nameOf(pair: string): string {
  return NAME.exec(pair)?.[1]?.trim() ?? '';
}

const NAME = /^[\s=]*([^=;]*)/;
