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

/**
 * Returns the request line and the header section of a request, with the blank line. Throws
 * `ConnectionError` with `invalid-request` for whatever an upstream could read as more than one field, as
 * another request, or as another framing.
 */
export function requestHead({ method, path, host, headers, body }: OutgoingRequest): string {
  if (method === '' || path === '' || UNSAFE_IN_LINE.test(method + path + host)) refuse();
  const connection = method === 'HEAD' ? 'close' : 'keep-alive';
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\n`;
  for (let index = 0; index < headers.length; index += 2) {
    head += fieldLine(headers[index] ?? '', headers[index + 1] ?? '');
  }
  return head + framing(method, body);
}

/** Returns the end of a chunked body. Throws like `requestHead`. */
export function lastChunk(trailers: readonly (readonly [string, string])[]): string {
  let end = '0\r\n';
  for (const [name, value] of trailers) end += fieldLine(name, value);
  return `${end}\r\n`;
}

function framing(method: string, body: OutgoingRequest['body']): string {
  if (body === undefined || Buffer.isBuffer(body)) {
    const length = body?.length ?? 0;
    // RFC 9110, section 8.6.
    return length === 0 && !expectsBody(method) ? '\r\n' : lengthLine(length);
  }
  const { length, trailers: { announced } = { announced: '' } } = body;
  if (length !== undefined) return lengthLine(length);
  if (announced === '') return 'transfer-encoding: chunked\r\n\r\n';
  if (UNSAFE_IN_VALUE.test(announced)) refuse();
  return `transfer-encoding: chunked\r\nTrailer: ${announced}\r\n\r\n`;
}

function lengthLine(length: number): string {
  if (!Number.isSafeInteger(length) || length < 0) refuse();
  return `content-length: ${String(length)}\r\n\r\n`;
}

function fieldLine(name: string, value: string): string {
  if (!checkedNames.has(name)) checkName(name);
  if (UNSAFE_IN_VALUE.test(value)) refuse();
  return `${name}: ${value}\r\n`;
}

/** Most names repeat in every request. The bound is for names that clients make up. */
const MAX_CHECKED_NAMES = 1_000;
const checkedNames = new Set<string>();

function checkName(name: string): void {
  if (!TOKEN.test(name) || OWN_FIELDS.has(name.toLowerCase())) refuse();
  if (checkedNames.size < MAX_CHECKED_NAMES) checkedNames.add(name);
}

function refuse(): never {
  throw new ConnectionError('invalid-request');
}
