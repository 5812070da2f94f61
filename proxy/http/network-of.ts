import { isIPv6 } from 'node:net';

const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;
const GROUPS_OF_END_SITE = 3;

/** The networks that an address belongs to. */
export interface Networks {
  /** What one client controls: an IPv4 address, or the /64 of an IPv6 address. */
  readonly network: string;
  /** What one customer of a provider may control: the /48 of an IPv6 address. The same for IPv4. */
  readonly endSite: string;
}

/**
 * Returns the networks of an address. One host may use every address of a /64, and one customer every /64 of
 * a /48: 65,536 of them.
 */
export function networksOf(address: string): Networks {
  const [bare = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined) return { network: mapped, endSite: mapped };
  if (!isIPv6(bare)) return { network: address, endSite: address };
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(GROUPS - first.length - last.length).fill('0');
  const groups = [...first, ...zeros, ...last];
  return {
    network: `${groups.slice(0, GROUPS_OF_NETWORK).join(':')}::/64`,
    endSite: `${groups.slice(0, GROUPS_OF_END_SITE).join(':')}::/48`,
  };
}
