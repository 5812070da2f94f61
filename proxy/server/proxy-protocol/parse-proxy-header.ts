import { Buffer } from 'node:buffer';
import { isIPv4, isIPv6 } from 'node:net';

import { ipv6InOneSpelling } from '../../http/client-address.ts';

/**
 * What the first bytes of a connection are. `need`: it takes at least this number of bytes to tell. A header
 * without an address is about the connection itself, such as a health check of the proxy.
 */
export type ProxyHeader =
  | { readonly kind: 'need'; readonly bytes: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'header'; readonly length: number; readonly address: string | undefined };

const SIGNATURE_V1 = Buffer.from('PROXY ');
const SIGNATURE_V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/**
 * Reads the header of the PROXY protocol, versions 1 and 2, from the first bytes of a connection.
 *
 * No HTTP request and no TLS handshake begins with a signature of the protocol, so the signatures tell the
 * header from them, however the bytes are split. What begins as a header and is none is malformed.
 */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsWith(bytes, SIGNATURE_V1)) return parseV1(bytes);
  if (beginsWith(bytes, SIGNATURE_V2)) return parseV2(bytes);
  return NONE;
}

const NONE: ProxyHeader = { kind: 'none' };
const MALFORMED: ProxyHeader = { kind: 'malformed' };

function need(bytes: number): ProxyHeader {
  return { kind: 'need', bytes };
}

/** Returns whether bytes begin with a signature, as far as they go. */
function beginsWith(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.length, signature.length);
  return bytes.compare(signature, 0, length, 0, length) === 0;
}

/** With the line end (PROXY protocol, section 2.1). */
const MAX_V1_LENGTH = 107;

const V1 = /^PROXY (?:(TCP4|TCP6) (\S+) (\S+) (\d{1,5}) (\d{1,5})|UNKNOWN(?: [\x20-\x7e]*)?)$/;

const MAX_PORT = 65_535;

function parseV1(bytes: Buffer): ProxyHeader {
  const end = bytes.indexOf('\r\n');
  if (end === -1 || end > MAX_V1_LENGTH - 2) {
    return bytes.length < MAX_V1_LENGTH ? need(bytes.length + 1) : MALFORMED;
  }
  const match = V1.exec(bytes.toString('latin1', 0, end));
  if (match === null) return MALFORMED;
  const length = end + 2;
  const [, family, source = '', destination = '', ...ports] = match;
  if (family === undefined) return { kind: 'header', length, address: undefined };
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6WithoutZone;
  const isSound = isAddress(source) && isAddress(destination) && ports.every(isPort);
  if (!isSound) return MALFORMED;
  return {
    kind: 'header',
    length,
    address: family === 'TCP4' ? source : ipv6InOneSpelling(source),
  };
}

/** A zone is a name of an interface of the proxy. */
function isIPv6WithoutZone(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

function isPort(text: string | undefined): boolean {
  return String(Number(text)) === text && Number(text) <= MAX_PORT;
}

const FIXED_V2_LENGTH = 16;

/** Addresses and additions (TLVs). Those of known load balancers have a few hundred bytes. */
const MAX_V2_REST = 4_096;

const VERSION_2 = 2;

const LOCAL = 0;
const PROXY = 1;

/** Transport and address family, with the length of the addresses and of one of them. */
const V2_FAMILIES: ReadonlyMap<number, { readonly length: number; readonly ip: 0 | 4 | 16 }> =
  new Map([
    [0x00, { length: 0, ip: 0 }],
    [0x11, { length: 12, ip: 4 }],
    [0x21, { length: 36, ip: 16 }],
    // A Unix socket on the machine of the proxy.
    [0x31, { length: 216, ip: 0 }],
  ]);

function parseV2(bytes: Buffer): ProxyHeader {
  if (bytes.length < FIXED_V2_LENGTH) return need(FIXED_V2_LENGTH);
  const command = bytes.readUInt8(12) & 0xf;
  const rest = bytes.readUInt16BE(14);
  const isKnown = command === LOCAL || command === PROXY;
  if (bytes.readUInt8(12) >> 4 !== VERSION_2 || !isKnown || rest > MAX_V2_REST) return MALFORMED;
  const length = FIXED_V2_LENGTH + rest;
  const family = V2_FAMILIES.get(bytes.readUInt8(13));
  // Section 2.2: of LOCAL, the receiver discards the family and what follows.
  if (command === PROXY && (family === undefined || rest < family.length)) return MALFORMED;
  if (bytes.length < length) return need(length);
  const ip = command === LOCAL ? 0 : (family?.ip ?? 0);
  return { kind: 'header', length, address: ip === 0 ? undefined : readIp(bytes, ip) };
}

function readIp(bytes: Buffer, length: 4 | 16): string {
  const ip = bytes.subarray(FIXED_V2_LENGTH, FIXED_V2_LENGTH + length);
  if (length === 4) return ip.join('.');
  const groups = ip.toString('hex').match(/.{4}/g) ?? [];
  return ipv6InOneSpelling(groups.join(':'));
}
