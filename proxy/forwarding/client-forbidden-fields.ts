import { isHopByHop } from './hop-by-hop.ts';

/** Fields that the gateway or its transport writes, or that only a trusted proxy may write. */
const RESERVED: ReadonlySet<string> = new Set([
  'content-length',
  'expect',
  'forwarded',
  'host',
  'proxy',
  'trailer',
  'x-gateway',
  // The policy allowed the method of the request line only.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-uri',
  'x-original-url',
  'x-real-ip',
  'x-request-id',
  'x-rewrite-url',
]);

const RESERVED_FAMILY = /^(?:x-gateway-|x-forwarded-|proxy-)/;

/** Returns whether clients must not write a field of this lower-case name, in any spelling. */
export function mustNotComeFromClient(lower: string): boolean {
  if (!NOT_PLAIN.test(lower)) return isReservedName(lower);
  // CGI and WSGI read `X_Gateway_Assertion` and `X-Gateway-Assertion` as one variable.
  const folded = lower.replaceAll(/[^a-z\d]/g, '-');
  return isReservedName(folded) || folded === 'authorization' || folded === 'cookie';
}

const NOT_PLAIN = /[^a-z\d-]/;

function isReservedName(name: string): boolean {
  return RESERVED.has(name) || isHopByHop(name) || RESERVED_FAMILY.test(name);
}

/** Returns whether a trailer field of this name is passed on, in either direction. */
export function mayTrail(name: string): boolean {
  const lower = name.toLowerCase();
  return !mustNotComeFromClient(lower) && !NEVER_TRAILS.has(lower);
}

const NEVER_TRAILS: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-range',
  'content-type',
  'cookie',
  // The client would get the server's own id of a session.
  'mcp-session-id',
  'set-cookie',
  'www-authenticate',
]);
