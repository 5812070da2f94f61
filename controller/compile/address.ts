import type { Route } from '../../crds/types.ts';
import { DEFAULT_PORTS } from '../../shared/snapshot/origin.ts';
import { made, invalid, type CompileResult } from './compile-result.ts';

/** Scheme, host and port of a public address, normalised. */
export interface Address {
  readonly scheme: 'http' | 'https';
  /** Lower case; starts with `*.` for a wildcard. */
  readonly host: string;
  readonly port: number;
}

const MAX_PORT = 65_535;
const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/** Reads an address without path, query and user, such as `https://*.example.com:8443`. */
export function parseAddress(text: string, path: string): CompileResult<Address> {
  const malformed = invalid(path, 'InvalidSpec', 'must be a scheme, host and optional port');
  const parts = /^(https?):\/\/(\*\.)?([^/?#@\s]+?)(?::(\d{1,5}))?\/?$/.exec(text);
  if (parts === null) return malformed;
  const scheme = parts[1] === 'http' ? 'http' : 'https';
  const wildcard = parts[2] ?? '';
  const host = canonicalHost(parts[3] ?? '');
  if (host === undefined || (wildcard !== '' && isIpAddress(host))) return malformed;
  // Attack: a host is a key of the ConfigMap of held hosts, and one key that is too long keeps it from being written.
  if (wildcard.length + host.length > MAX_NAME_LENGTH) return malformed;
  const port = parts[4] === undefined ? DEFAULT_PORTS[scheme] : Number(parts[4]);
  if (port === 0 || port > MAX_PORT) {
    return invalid(path, 'InvalidSpec', 'the port must be between 1 and 65535');
  }
  return made({ scheme, host: wildcard + host, port });
}

/** The host of a route's address; undefined if it cannot be read. */
export function hostOfRoute({ spec }: Route): string | undefined {
  const address = parseAddress(spec.from, 'spec.from');
  return address.kind === 'made' ? address.value.host : undefined;
}

/** `host:port`: two addresses that share it are served by one listener and one set of routes. */
export function authorityOf({ host, port }: Pick<Address, 'host' | 'port'>): string {
  return `${host}:${String(port)}`;
}

/**
 * Returns the spelling of a host that clients send. Spellings that a URL parser reads as a different
 * name, such as `127.1` and `0x7f.0.0.1`, are invalid.
 */
function canonicalHost(name: string): string | undefined {
  const url = URL.parse(`http://${name}`);
  if (url?.pathname !== '/' || url.username !== '') return undefined;
  const { hostname } = url;
  if (hostname.startsWith('[')) return hostname;
  if (hostname !== name.toLowerCase()) return undefined;
  return hostname.split('.').every(isLabel) ? hostname : undefined;
}

function isLabel(text: string): boolean {
  return text.length <= MAX_LABEL_LENGTH && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text);
}

function isIpAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host);
}
