import { isIPv6 } from 'node:net';

const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;

/**
 * Returns the network that one client controls: its IPv4 address, or the /64 network of its IPv6 address,
 * since one host may use every address of such a network.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(bare)) return address;
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(GROUPS - first.length - last.length).fill('0');
  return `${[...first, ...zeros, ...last].slice(0, GROUPS_OF_NETWORK).join(':')}::/64`;
}
