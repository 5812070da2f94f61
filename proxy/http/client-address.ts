import { isIPv4, isIPv6 } from 'node:net';

import { addressRanges, isWithin, type Cidrs } from './address-ranges.ts';
import type { RequestMessage } from './request-message.ts';

/** Returns the address of the client of a request. */
export type ClientAddressOf = (message: Pick<RequestMessage, 'headers' | 'socket'>) => string;

/** Returns the address at the other end of the connection; an IPv4 address without its IPv6 form. */
function peerAddress({ socket }: Pick<RequestMessage, 'socket'>): string {
  return plainAddress(socket.remoteAddress ?? '');
}

/** Returns the address of a socket; an IPv4 address without its IPv6 form. */
export function plainAddress(remoteAddress: string): string {
  return remoteAddress.startsWith(MAPPED) ? remoteAddress.slice(MAPPED.length) : remoteAddress;
}

/** IPv4-mapped addresses (RFC 4291, section 2.5.5.2), as sockets spell them. */
const MAPPED = '::ffff:';

/**
 * Finds the client behind trusted proxies: the last address before the gateway that is not a trusted
 * proxy.
 *
 * A proxy appends the address that it received a request from to `X-Forwarded-For`, so an entry is
 * trusted as far as the proxy that wrote it. Entries before an untrusted proxy are ignored, because
 * anyone can send the header.
 */
export function clientAddressBehind(trustedProxies: Cidrs): ClientAddressOf {
  if (trustedProxies.length === 0) return peerAddress;
  const trusted = addressRanges(trustedProxies);
  return (message) => {
    const peer = peerAddress(message);
    if (!isWithin(trusted, peer)) return peer;
    let client = peer;
    for (const entry of forwardedFor(message)) {
      const address = addressIn(entry);
      // Without an address, the proxy that wrote the entry is the last known one.
      if (address === undefined) break;
      client = address;
      if (!isWithin(trusted, client)) break;
    }
    return client;
  };
}

/** More than the trusted proxies of any installation; further entries are ignored. */
const MAX_HOPS = 32;

/** Yields the entries of `X-Forwarded-For`, the newest first. */
function* forwardedFor({ headers }: Pick<RequestMessage, 'headers'>): Generator<string> {
  // Node joins the lines of this field (RFC 9110, section 5.3).
  const field = headers['x-forwarded-for'];
  if (typeof field !== 'string') return;
  // From the end: a client can make the field as long as a header may be.
  let end = field.length;
  for (let hop = 0; hop < MAX_HOPS && end >= 0; hop += 1) {
    const comma = end === 0 ? -1 : field.lastIndexOf(',', end - 1);
    yield field.slice(comma + 1, end);
    end = comma;
  }
}

const PORT = String.raw`(?::\d{1,5})?`;
const IPV6 = String.raw`[\da-f:.]{2,45}`;
/** IPv4 with a port or without, IPv6 in brackets with a port or without, IPv6 as it is. */
const ENTRY = new RegExp(
  String.raw`^(?:([\d.]{7,15})${PORT}|\[(${IPV6})\]${PORT}|(${IPV6}))$`,
  'i',
);

/** Returns the address in an entry; undefined if it is not an IP address, such as `unknown`. */
function addressIn(entry: string): string | undefined {
  const [, ipv4, bracketed, ipv6 = bracketed] = ENTRY.exec(entry.trim()) ?? [];
  if (ipv4 !== undefined) return isIPv4(ipv4) ? ipv4 : undefined;
  return ipv6 !== undefined && isIPv6(ipv6) ? ipv6InOneSpelling(ipv6) : undefined;
}

/** Returns an IPv6 address in the spelling of sockets; a mapped IPv4 address as IPv4. */
export function ipv6InOneSpelling(ipv6: string): string {
  const address = new URL(`http://[${ipv6}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  return [high, low]
    .map((group) => parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}
