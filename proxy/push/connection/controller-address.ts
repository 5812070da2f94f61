import { isIP } from 'node:net';

/** An address to dial. */
export interface DialAddress {
  readonly host: string;
  readonly port: number;
}

const HTTPS_PORT = 443;
const PORT_MAX = 65_535;

/** Returns the address of a URL. Throws a `TypeError` unless the URL is https. */
export function controllerAddressOf(url: URL): DialAddress {
  if (url.protocol !== 'https:') throw new TypeError('the controller must have an https URL');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: url.port === '' ? HTTPS_PORT : Number(url.port) };
}

/** Parses `host:port`, IPv6 in brackets; undefined for anything else. */
export function parseLeaderAddress(text: string): DialAddress | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, ipv6, name = '', port] = match;
  const address = { host: ipv6 ?? name, port: Number(port) };
  if (ipv6 !== undefined && isIP(ipv6) === 0) return undefined;
  return address.port > 0 && address.port <= PORT_MAX ? address : undefined;
}
