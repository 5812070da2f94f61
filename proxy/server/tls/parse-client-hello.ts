import { Buffer } from 'node:buffer';

/** What a client asks for in the first message of a TLS handshake. */
export interface ClientHello {
  /** A host name in lower case; absent if the client names no server, or none that can be. */
  readonly serverName?: string;
}

const RECORD_HEADER = 5;
const HANDSHAKE_RECORD = 22;
const MESSAGE_HEADER = 4;
const CLIENT_HELLO = 1;
const MAX_RECORD = 16_384;

/** Those of browsers, with keys for post-quantum cryptography, have 2 KiB. */
const MAX_HELLO = 16_384;

/** Clients use one or two. Attack: a record for each byte, all of which are looked at for each one. */
const MAX_RECORDS = 16;

/**
 * Reads a ClientHello (RFC 8446, section 4.1.2, which TLS 1.2 shares) from the first bytes of a connection.
 * Returns how many bytes it needs at least if it needs more, and undefined if it is none.
 *
 * OpenSSL reads the same bytes afterwards and decides what is valid; this reads the name of the server only.
 */
export function parseClientHello(bytes: Buffer): ClientHello | number | undefined {
  const message = messageIn(bytes);
  if (message === undefined || typeof message === 'number') return message;
  try {
    const serverName = serverNameIn(message);
    return serverName === undefined ? {} : { serverName };
  } catch {
    return undefined;
  }
}

/** Joins the records of the first message. */
function messageIn(bytes: Buffer): Buffer | number | undefined {
  const fragments: Buffer[] = [];
  for (let at = 0, records = 0; records < MAX_RECORDS; records += 1) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) return undefined;
    if (bytes.length < at + RECORD_HEADER) return at + RECORD_HEADER;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > MAX_RECORD) return undefined;
    const end = at + RECORD_HEADER + length;
    if (bytes.length < end) return end;
    fragments.push(bytes.subarray(at + RECORD_HEADER, end));
    at = end;
    const joined = Buffer.concat(fragments);
    if (joined[0] !== CLIENT_HELLO) return undefined;
    if (joined.length < MESSAGE_HEADER) continue;
    const size = MESSAGE_HEADER + joined.readUIntBE(1, 3);
    if (size > MAX_HELLO) return undefined;
    if (joined.length >= size) return joined.subarray(MESSAGE_HEADER, size);
  }
  return undefined;
}

const VERSION_AND_RANDOM = 2 + 32;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** RFC 1035, section 2.3.4. Attack: a name of thousands of labels is looked up once for each of them. */
const MAX_HOST_NAME = 253;

/** Attack: Node throws when it compares a certificate with any text, such as one with a NUL or a zone. */
const HOST_NAME_PATTERN = /^[a-z\d_-]+(?:\.[a-z\d_-]+)*$/;

/** Throws a `RangeError` where the message ends too early. */
function serverNameIn(message: Buffer): string | undefined {
  let at = VERSION_AND_RANDOM;
  at += 1 + message.readUInt8(at); // session id
  at += 2 + message.readUInt16BE(at); // cipher suites
  at += 1 + message.readUInt8(at); // compression methods
  // Extensions may be absent.
  if (at === message.length) return undefined;
  const end = at + 2 + message.readUInt16BE(at);
  at += 2;
  while (at < end) {
    const type = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 2);
    at += 4;
    // RFC 6066, section 3: a list, of which only one type of name was ever defined.
    if (type === SERVER_NAME) return hostNameIn(message.subarray(at, at + length));
    at += length;
  }
  return undefined;
}

function hostNameIn(extension: Buffer): string | undefined {
  if (extension.readUInt8(2) !== HOST_NAME) return undefined;
  const length = extension.readUInt16BE(3);
  if (length > MAX_HOST_NAME) return undefined;
  const name = extension.toString('latin1', 5, 5 + length).toLowerCase();
  return HOST_NAME_PATTERN.test(name) ? name : undefined;
}
