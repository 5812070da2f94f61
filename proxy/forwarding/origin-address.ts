/** The address of the server of an origin. */
export interface OriginAddress {
  /** `http:` or `https:`. */
  readonly protocol: string;
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Returns the address to connect to for `scheme://host[:port]`. */
export function originAddress(origin: string): OriginAddress {
  const { protocol, hostname, port } = new URL(origin);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return {
    protocol,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? defaultPort : Number(port),
  };
}
