import { METHODS } from 'node:http';

/** The head of a request, in the form of HTTP/1.1. */
export interface StreamHead {
  readonly method: string;
  /** The path; or the URL, where it names another host than `Host`. */
  readonly target: string;
  /** Flat list of names and values, with `Host`, and with all cookies in one field. */
  readonly rawHeaders: readonly string[];
  /** Length of the fields as HTTP/1.1 would send them. */
  readonly bytes: number;
}

/**
 * Makes the head of a request from the flat list of its fields and pseudo fields (RFC 9113, section 8.3.1).
 * `hasBody`: the request does not end with its fields.
 */
export function readStreamHead(fields: readonly string[], hasBody: boolean): StreamHead {
  const { pseudo, rawHeaders, cookies, host, hasLength, bytes } = sortFields(fields);
  const authority = pseudo.get(':authority') ?? host ?? '';
  if (host === undefined && authority !== '') rawHeaders.push('host', authority);
  // RFC 9113, section 8.2.3.
  if (cookies.length > 0) rawHeaders.push('cookie', cookies.join('; '));
  if (hasBody && !hasLength) rawHeaders.push('transfer-encoding', 'chunked');
  const names = { scheme: pseudo.get(':scheme') ?? '', authority, host: host ?? authority };
  const target = targetOf(pseudo.get(':path') ?? '', names);
  return { method: pseudo.get(':method') ?? '', target, rawHeaders, bytes };
}

/** Fields by what becomes of them. */
interface SortedFields {
  readonly pseudo: ReadonlyMap<string, string>;
  readonly rawHeaders: string[];
  readonly cookies: readonly string[];
  readonly host: string | undefined;
  readonly hasLength: boolean;
  readonly bytes: number;
}

function sortFields(fields: readonly string[]): SortedFields {
  const pseudo = new Map<string, string>();
  const rawHeaders: string[] = [];
  const cookies: string[] = [];
  let host: string | undefined;
  let hasLength = false;
  let bytes = 0;
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const value = fields[index + 1] ?? '';
    bytes += name.length + value.length + SEPARATORS;
    if (name.startsWith(':')) {
      pseudo.set(name, value);
    } else if (name === 'cookie') {
      cookies.push(value);
    } else {
      rawHeaders.push(name, value);
      if (name === 'host') host ??= value;
      hasLength ||= name === 'content-length';
    }
  }
  return { pseudo, rawHeaders, cookies, host, hasLength, bytes };
}

/** Bytes around name and value in a line of HTTP/1.1: colon, space, line end. */
const SEPARATORS = 4;

/** How a request names its server. */
interface ServerNames {
  readonly scheme: string;
  readonly authority: string;
  /** `Host`. */
  readonly host: string;
}

/**
 * Returns the request target. In absolute form the parser of requests compares it with `Host`, so that a
 * request that names two hosts is refused as in HTTP/1.1 (RFC 9113, section 8.3.1).
 */
function targetOf(path: string, { scheme, authority, host }: ServerNames): string {
  // Only a path: an absolute URL here would have another meaning to each server.
  if (!path.startsWith('/')) return '*';
  const isOneHost = host === authority || host.toLowerCase() === authority.toLowerCase();
  const isWeb = scheme === 'https' || scheme === 'http';
  return isOneHost && isWeb ? path : `${scheme}://${authority}${path}`;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

/**
 * Returns whether a request has a method that the HTTP/1.1 side takes too. Attack: an upstream gets a request
 * line that its parser reads differently; CONNECT makes a tunnel past all checks.
 */
export function isKnownMethod(method: string): boolean {
  return KNOWN_METHODS.has(method) && method !== 'CONNECT';
}
