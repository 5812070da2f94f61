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
  let head = headStart(method, path, host);
  for (let index = 0; index < headers.length; index += 2) {
    head += line(headers[index] ?? '', headers[index + 1] ?? '');
  }
  return head + framing(method, body);
}

/** The last one: many requests in a row are to one place. */
let lastStart = { method: '', path: '', host: '', text: '' };

/** Returns the request line and the first fields, without the last line break. */
function headStart(method: string, path: string, host: string): string {
  const isSame = lastStart.path === path && lastStart.host === host && lastStart.method === method;
  if (isSame && path !== '') return lastStart.text;
  if (method === '' || path === '' || UNSAFE_IN_LINE.test(method + path + host)) refuse();
  const connection = method === 'HEAD' ? 'close' : 'keep-alive';
  const text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}`;
  lastStart = { method, path, host, text };
  return text;
}

/** Returns the end of a chunked body. Throws like `requestHead`. */
export function lastChunk(trailers: readonly (readonly [string, string])[]): string {
  let end = '0';
  for (const [name, value] of trailers) end += line(name, value);
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

/** The beginning of the lines of a field, and one whole line with a value that had come before. */
interface KnownName {
  readonly start: string;
  value: string;
  line: string;
  /** How many values were different since then. */
  others: number;
}

/**
 * Most names repeat in every request, and so do many values. The bounds are for names that clients make up: when
 * there are too many, all are forgotten, so that made-up names do not keep the common ones out for good.
 */
const MAX_KNOWN_NAMES = 1_000;
const MAX_KNOWN_LENGTH = 64;
/** Longer values are mostly credentials. */
const MAX_KNOWN_VALUE = 128;
/** Values such as ids never repeat, and should not be copied each time. */
const OTHERS_BEFORE_NEXT = 16;
const knownNames = new Map<string, KnownName>();

/** Returns the end of the last line, and the line of a field without its end. */
function line(name: string, value: string): string {
  const known = knownNames.get(name) ?? knownName(name);
  if (known.value === value) return known.line;
  const text = known.start + checked(value);
  known.others += 1;
  if (known.others >= OTHERS_BEFORE_NEXT && value.length <= MAX_KNOWN_VALUE) {
    known.value = value;
    known.line = inOnePiece(text);
    known.others = 0;
  }
  return text;
}

function knownName(name: string): KnownName {
  if (!TOKEN.test(name) || OWN_FIELDS.has(name.toLowerCase())) refuse();
  const start = inOnePiece(`\r\n${name}: `);
  const known = { start, value: '', line: start, others: 0 };
  if (name.length > MAX_KNOWN_LENGTH) return known;
  if (knownNames.size === MAX_KNOWN_NAMES) knownNames.clear();
  knownNames.set(name, known);
  return known;
}

/** Returns a copy that is not a sum of texts: it is put into each head faster. */
function inOnePiece(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

function refuse(): never {
  throw new ConnectionError('invalid-request');
}
