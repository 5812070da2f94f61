import { isIPv4, isIPv6 } from 'node:net';

import { oncePerObject } from '../cache/once-per-object.ts';
import { addressRanges, isWithin, type Cidrs } from '../http/address-ranges.ts';

/** The settings pass the same array every time. */
const allowedRanges = oncePerObject((cidrs: Cidrs) => addressRanges(cidrs));

/**
 * Returns whether an address is on the public internet, or in one of the allowed networks.
 *
 * IPv4 addresses inside IPv6 ones (mapped, NAT64) are checked as IPv4. A text that is not an address is
 * not public.
 *
 * @see {@link https://www.iana.org/assignments/iana-ipv4-special-registry IANA, IPv4 special-purpose addresses}
 * @see {@link https://www.iana.org/assignments/iana-ipv6-special-registry IANA, IPv6 special-purpose addresses}
 */
export function isPublicAddress(address: string, allowed: Cidrs = []): boolean {
  const actual = embeddedIPv4(address) ?? address;
  if (isWithin(allowedRanges(allowed), actual)) return true;
  if (isIPv4(actual)) return !isWithin(SPECIAL_IPV4, actual);
  return isWithin(GLOBAL_UNICAST_IPV6, actual) && !isWithin(SPECIAL_IPV6, actual);
}

/** Returns whether an address is a loopback address of this machine. */
export function isLoopbackAddress(address: string): boolean {
  return isWithin(LOOPBACK, embeddedIPv4(address) ?? address);
}

const SPECIAL_IPV4 = addressRanges([
  '0.0.0.0/8', // this network (RFC 791)
  '10.0.0.0/8', // private use (RFC 1918)
  '100.64.0.0/10', // carrier-grade NAT (RFC 6598)
  '127.0.0.0/8', // loopback (RFC 1122)
  '169.254.0.0/16', // link-local, and the metadata services of clouds (RFC 3927)
  '172.16.0.0/12', // private use (RFC 1918)
  '192.0.0.0/24', // IETF protocol assignments (RFC 6890)
  '192.0.2.0/24', // documentation (RFC 5737)
  '192.88.99.0/24', // 6to4 relay anycast (RFC 7526)
  '192.168.0.0/16', // private use (RFC 1918)
  '198.18.0.0/15', // benchmarking (RFC 2544)
  '198.51.100.0/24', // documentation (RFC 5737)
  '203.0.113.0/24', // documentation (RFC 5737)
  '224.0.0.0/4', // multicast (RFC 5771)
  '240.0.0.0/4', // reserved, and limited broadcast (RFC 1112, RFC 919)
]);

// RFC 4291, section 2.4. All other addresses are unspecified, loopback, unique local, link-local,
// site-local, multicast, local NAT64, discard-only, SRv6 or reserved.
const GLOBAL_UNICAST_IPV6 = addressRanges(['2000::/3']);

const SPECIAL_IPV6 = addressRanges([
  '2001::/23', // IETF protocol assignments, Teredo among them (RFC 2928, RFC 4380)
  '2001:db8::/32', // documentation (RFC 3849)
  '2002::/16', // 6to4: contains an IPv4 address; deprecated (RFC 3056, RFC 7526)
  '3fff::/20', // documentation (RFC 9637)
]);

const LOOPBACK = addressRanges(['127.0.0.0/8', '::1/128']);

// IPv4-mapped (RFC 4291, section 2.5.5.2) and NAT64 (RFC 6052): the last 32 bits are the address.
const CARRIERS_OF_IPV4 = addressRanges(['::ffff:0:0/96', '64:ff9b::/96']);

function embeddedIPv4(address: string): string | undefined {
  if (!isIPv6(address) || !CARRIERS_OF_IPV4.check(address, 'ipv6')) return undefined;
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':');
  const [high, low] = groups.slice(-2).map((group) => parseInt(group || '0', 16));
  if (high === undefined || low === undefined) return undefined;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
