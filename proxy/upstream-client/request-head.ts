import { Buffer } from 'node:buffer';

import { ConnectionError } from './connection-error.ts';
import { expectsBody, type OutgoingRequest } from './outgoing-request.ts';

/** Fields that only this client writes, and those that ask for what it does not read. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive'],
  ...['proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;

/** Characters that end a part of the request line, or would be cut to such a one when it is written. */
const UNSAFE_IN_LINE = /[\0-\x20\x7f\u0100-\uffff]/;

/** Characters that end a value, or would be cut to such a one: U+010A is written as a line feed. */
const UNSAFE_IN_VALUE = /[\0\r\n\u0100-\uffff]/;

/** Ends the last line of a head or of trailers, and follows it. */
const BLANK_LINE = '\r\n\r\n';

/**
 * Returns the request line and the header section of a request, with the blank line. Throws
 * `ConnectionError` with `invalid-request` for whatever an upstream could read as more than one field, as
 * another request, or as another framing.
 */
export function requestHead({ method, path, host, headers, body }: OutgoingRequest): string {
  if (method === '' || path === '' || UNSAFE_IN_LINE.test(method + path + host)) refuse();
  const connection = method === 'HEAD' ? 'close' : 'keep-alive';
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}`;
  for (let index = 0; index < headers.length; index += 2) {
    head += lineStart(headers[index] ?? '') + checked(headers[index + 1] ?? '');
  }
  return head + framing(method, body);
}

/** Returns the end of a chunked body. Throws like `requestHead`. */
export function lastChunk(trailers: readonly (readonly [string, string])[]): string {
  let end = '0';
  for (const [name, value] of trailers) end += lineStart(name) + checked(value);
  return end + BLANK_LINE;
}

function framing(method: string, body: OutgoingRequest['body']): string {
  if (body === undefined || Buffer.isBuffer(body)) {
    const length = body?.length ?? 0;
    // RFC 9110, section 8.6.
    return length === 0 && !expectsBody(method) ? BLANK_LINE : lengthLine(length);
  }
  const { length, trailers: { announced } = { announced: '' } } = body;
  if (length !== undefined) return lengthLine(length);
  const trailer = announced === '' ? '' : `\r\nTrailer: ${checked(announced)}`;
  return `\r\ntransfer-encoding: chunked${trailer}${BLANK_LINE}`;
}

function lengthLine(length: number): string {
  if (!Number.isSafeInteger(length) || length < 0) refuse();
  return `\r\ncontent-length: ${String(length)}${BLANK_LINE}`;
}

function checked(value: string): string {
  if (UNSAFE_IN_VALUE.test(value)) refuse();
  return value;
}

/**
 * Most names repeat in every request. The bounds are for names that clients make up: when there are too many,
 * all are forgotten, so that made-up names do not keep the common ones out for good.
 */
const MAX_KNOWN_NAMES = 1_000;
const MAX_KNOWN_LENGTH = 64;
const knownLineStarts = new Map<string, string>();

/** Returns the end of the last line, and the beginning of the line of a field. */
function lineStart(name: string): string {
  const known = knownLineStarts.get(name);
  if (known !== undefined) return known;
  if (!TOKEN.test(name) || OWN_FIELDS.has(name.toLowerCase())) refuse();
  // A copy is one piece of text, which is faster to put into each head than the pieces of a sum.
  const start = Buffer.from(`\r\n${name}: `).toString('latin1');
  if (name.length > MAX_KNOWN_LENGTH) return start;
  if (knownLineStarts.size === MAX_KNOWN_NAMES) knownLineStarts.clear();
  knownLineStarts.set(name, start);
  return start;
}

function refuse(): never {
  throw new ConnectionError('invalid-request');
}
