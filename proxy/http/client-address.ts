import { isIPv4, isIPv6 } from 'node:net';

import { addressRanges, isWithin, type Cidrs } from './address-ranges.ts';
import type { RequestMessage } from './request-message.ts';

/** Says which address a request comes from. */
export type ClientAddressOf = (message: Pick<RequestMessage, 'headers' | 'socket'>) => string;

/** The other end of the connection; an IPv4 client of a dual-stack socket in its own spelling. */
function peerAddress({ socket }: Pick<RequestMessage, 'socket'>): string {
  const { remoteAddress = '' } = socket;
  return remoteAddress.startsWith(MAPPED) ? remoteAddress.slice(MAPPED.length) : remoteAddress;
}

/** IPv4-mapped addresses (RFC 4291, section 2.5.5.2), as sockets spell them. */
const MAPPED = '::ffff:';

/**
 * Finds the client behind trusted proxies: of those that a request passed, from the gateway
 * backwards, the first that is no trusted proxy.
 *
 * A proxy appends to `X-Forwarded-For` whom it heard a request from, so an entry is worth as much as
 * the proxy that wrote it. What an untrusted one says of others is not looked at: anyone can send
 * the header.
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
      // A proxy that does not say whom it heard is the last that is known.
      if (address === undefined) break;
      client = address;
      if (!isWithin(trusted, client)) break;
    }
    return client;
  };
}

/** More trusted proxies in a row than anyone has; what is beyond them is not looked at. */
const MAX_HOPS = 32;

/** Entries of `X-Forwarded-For`, the newest first. */
function* forwardedFor({ headers }: Pick<RequestMessage, 'headers'>): Generator<string> {
  // Node joins the lines of this field, as RFC 9110, section 5.3, has it.
  const field = headers['x-forwarded-for'];
  if (typeof field !== 'string') return;
  // From the end, for a client can make the field as long as a header may be.
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

/** The address in an entry; undefined for what is none, such as `unknown`. */
function addressIn(entry: string): string | undefined {
  const [, ipv4, bracketed, ipv6 = bracketed] = ENTRY.exec(entry.trim()) ?? [];
  if (ipv4 !== undefined) return isIPv4(ipv4) ? ipv4 : undefined;
  return ipv6 !== undefined && isIPv6(ipv6) ? inOneSpelling(ipv6) : undefined;
}

/** IPv6 in the spelling of sockets; a mapped IPv4 address as what it is. */
function inOneSpelling(ipv6: string): string {
  const address = new URL(`http://[${ipv6}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  return [high, low]
    .map((group) => parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}
