import type { FirstBytes } from '../first-bytes.ts';
import { parseClientHello, type ClientHello } from './parse-client-hello.ts';

/** What a client begins with where TLS is expected. */
export type Beginning =
  | { readonly kind: 'tls'; readonly hello: ClientHello }
  /** Text, as of a request, or of a PROXY header that nobody may send. */
  | { readonly kind: 'plain-http' }
  | { readonly kind: 'malformed' };

/** Tells what the first bytes of a connection are; returns how many it needs at least if it needs more. */
export function beginningOf(bytes: Buffer): FirstBytes<Beginning> | number {
  if (isText(bytes[0])) return { taken: 0, value: { kind: 'plain-http' } };
  const hello = parseClientHello(bytes);
  if (typeof hello === 'number') return hello;
  // OpenSSL reads it again.
  return { taken: 0, value: hello === undefined ? { kind: 'malformed' } : { kind: 'tls', hello } };
}

/** Line ends may precede a request; no record of TLS begins with one. */
function isText(byte = 0): boolean {
  return byte === 0x0a || byte === 0x0d || (byte >= 0x20 && byte < 0x7f);
}
