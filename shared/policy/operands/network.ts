/** A range of addresses. A single address is a range of all its bits. */
export interface Network {
  readonly address: Address;
  readonly bits: number;
}

/** The 16-bit groups of an IPv6 address; the two of an IPv4 address, also of one in its IPv6 form. */
type Address = readonly number[];

const BITS_OF_GROUP = 16;
const GROUPS_OF_IPV4 = 2;
const BITS_OF_PREFIX_OF_MAPPED = 96;

/**
 * Parses an address, or a network such as `10.0.0.0/8`; undefined if it is neither. A network of
 * IPv4-mapped IPv6 addresses is the network of the IPv4 addresses (RFC 4291, section 2.5.5.2). There is none with
 * a zone: clients are compared without theirs.
 */
export function parseNetwork(text: string): Network | undefined {
  const [, written = '', length] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseIpAddress(written);
  if (address === undefined) return undefined;
  const isMapped = address.length === GROUPS_OF_IPV4 && written.includes(':');
  const all = BITS_OF_GROUP * address.length;
  if (length === undefined) return { address, bits: all };
  const bits = Number(length) - (isMapped ? BITS_OF_PREFIX_OF_MAPPED : 0);
  return bits < 0 || bits > all ? undefined : { address, bits };
}

/** Parses an IP address, without a zone. Undefined if it is not one. */
export function parseIpAddress(text: string): Address | undefined {
  const [address = ''] = text.split('%');
  return address.includes(':') ? parseIpv6(address) : parseIpv4(address);
}

/**
 * Networks in which addresses are looked up, in one step for all networks of one length.
 *
 * Attack: a Route of a megabyte has 50,000 networks, and every request would be compared with each.
 */
export class NetworkList {
  /** By the number of bits. */
  readonly #prefixes = new Map<number, Set<string>>();

  constructor(networks: readonly Network[]) {
    for (const { address, bits } of networks) {
      const prefixes = this.#prefixes.get(bits) ?? new Set();
      this.#prefixes.set(bits, prefixes.add(prefixOf(address, bits)));
    }
  }

  /** Returns whether an address is in a network. An IPv4 address is in no network of IPv6 addresses. */
  has(address: Address): boolean {
    for (const [bits, prefixes] of this.#prefixes) {
      if (prefixes.has(prefixOf(address, bits))) return true;
    }
    return false;
  }
}

/** Returns the first bits of an address, as a text that no address of the other family has. */
function prefixOf(address: Address, bits: number): string {
  return address
    .map((group, index) => {
      const used = Math.min(Math.max(bits - index * BITS_OF_GROUP, 0), BITS_OF_GROUP);
      return group >> (BITS_OF_GROUP - used);
    })
    .join(':');
}

const BYTE = '(0|[1-9]\\d{0,2})';
const IPV4 = new RegExp(`^${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}$`);
const MAX_BYTE = 255;
const BITS_OF_BYTE = 8;

function parseIpv4(text: string): Address | undefined {
  const [, a, b, c, d] = (IPV4.exec(text) ?? []).map(Number);
  if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined;
  if (Math.max(a, b, c, d) > MAX_BYTE) return undefined;
  return [(a << BITS_OF_BYTE) | b, (c << BITS_OF_BYTE) | d];
}

const IPV6 = /^[\da-f:.]{2,45}$/i;
const GROUPS_OF_IPV6 = 8;

function parseIpv6(text: string): Address | undefined {
  if (!IPV6.test(text)) return undefined;
  const hostname = URL.parse(`http://[${text}]`)?.hostname;
  if (hostname === undefined) return undefined;
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const first = groupsOf(head);
  const last = groupsOf(tail ?? '');
  const zeros = Array<number>(GROUPS_OF_IPV6 - first.length - last.length).fill(0);
  const groups = [...first, ...zeros, ...last];
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? groups.slice(6) : groups;
}

function groupsOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => parseInt(group, 16));
}
