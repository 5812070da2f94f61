import { Buffer } from 'node:buffer';
import { STATUS_CODES, validateHeaderValue, type OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';

import { closeGently, type Linger } from './close-gently.ts';

/** A response that is written to a bare connection. */
export interface RawResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/**
 * Answers on a bare connection and closes it, after a refused upgrade or a message that could not be
 * parsed. Does nothing if the connection has ended.
 */
export function endWithResponse(
  socket: Duplex,
  { status, headers = {}, body = '' }: RawResponse,
  linger?: Linger,
): void {
  if (!socket.writable) return;
  const lines = [statusLine(status)];
  for (const [name, value] of Object.entries(headers)) {
    for (const item of [value].flat()) lines.push(headerLine(name, String(item)));
  }
  lines.push(`Content-Length: ${String(Buffer.byteLength(body))}`, 'Connection: close', '', body);
  socket.write(lines.join('\r\n'));
  closeGently(socket, linger);
}

/** Returns the head of a response with `Connection: close`, from a flat list of names and values. */
export function rawHead(status: number, fields: readonly string[]): string {
  const lines = [statusLine(status)];
  for (let index = 0; index < fields.length; index += 2) {
    lines.push(headerLine(fields[index] ?? '', fields[index + 1] ?? ''));
  }
  lines.push('Connection: close', '', '');
  return lines.join('\r\n');
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`;
}

function headerLine(name: string, value: string): string {
  // Attack: a line break in a value would add a header.
  validateHeaderValue(name, value);
  return `${name}: ${value}`;
}
