import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Networks of addresses, as `10.0.0.0/8` and `fd00::/8`. */
export type Cidrs = readonly string[];

/** Returns the list in which addresses are looked up. */
export function addressRanges(cidrs: Cidrs): BlockList {
  const ranges = new BlockList();
  for (const cidr of cidrs) addRange(ranges, cidr);
  return ranges;
}

/** Returns whether an address is in one of the networks; false if it is not an IP address. */
export function isWithin(ranges: BlockList, address: string): boolean {
  if (isIPv4(address)) return ranges.check(address, 'ipv4');
  return isIPv6(address) && ranges.check(address, 'ipv6');
}

function addRange(ranges: BlockList, cidr: string): void {
  const [network = '', bits] = cidr.split('/');
  const family = isIPv4(network) ? 'ipv4' : 'ipv6';
  // A network without a length is one address; with length 0 it would be every address.
  if (bits === undefined || bits === '') ranges.addAddress(network, family);
  else ranges.addSubnet(network, Number(bits), family);
}
