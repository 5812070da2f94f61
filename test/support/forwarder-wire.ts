import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { expect, test } from '@jest/globals';

import { isOverHttp2 } from './front.ts';
import { headerOf, type RawClient, type WireResponse } from './raw-http.ts';

/** Bytes of a large body. */
export const MEBIBYTE = 1024 * 1024;

/** Returns a body with bytes of every value, so that a wrong encoding is seen, in an order that repeats late. */
export function bytesOf(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_value, at) => (at * 7 + (at >> 8)) % 256));
}

/** A request without a body. */
export const GET = 'GET /x HTTP/1.1\r\nHost: app.test\r\n\r\n';
/** A request with a body of known length. */
export const POST = 'POST /x HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\n\r\nbody';
/** The same in chunks. */
export const CHUNKED_POST =
  'POST /x HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n';

/** An upstream that reads requests and never responds. */
export const silent: RequestListener = (message) => {
  message.resume();
};

/** An upstream that reads the request, and responds with `ok`. */
export const answerOk: RequestListener = (message, response) => {
  message.resume().on('end', () => response.end('ok'));
};

/** Waits until a socket is closed. `once` of `node:events` would reject with the error of a reset. */
export async function closing(socket: Socket): Promise<void> {
  if (socket.closed) return;
  await new Promise((resolve) => socket.once('close', resolve));
}

/** Waits until a growing number stops growing. */
export async function standstill(read: () => number): Promise<number> {
  let last = -1;
  for (let same = 0; same < 5; same += 1) {
    await delay(40);
    if (read() !== last) same = 0;
    last = read();
  }
  return last;
}

/** Every value of a header field. */
export function valuesOf({ headers }: WireResponse, name: string): string[] {
  return headers.filter(([other]) => other === name).map(([, value]) => value);
}

/** `test` for what only HTTP/1.1 has. */
export const testOfHttp1: typeof test | typeof test.skip = isOverHttp2() ? test.skip : test;

/** Expects that a response is the last one of its connection; in HTTP/2 it only ends its stream. */
export async function expectLast(client: RawClient, response: WireResponse): Promise<void> {
  if (isOverHttp2()) return;
  expect(headerOf(response, 'connection')).toBe('close');
  expect(await client.closed).toBe('ended');
}

/** Returns the name of a field as it arrives; HTTP/2 has all in lower case. */
export function spelled(name: string): string {
  return isOverHttp2() ? name.toLowerCase() : name;
}

/** Returns the names and values of a response, but for those about the connection of a test. */
export function fieldsOf({ headers }: WireResponse): readonly (readonly [string, string])[] {
  if (!isOverHttp2()) return headers;
  // The intermediary of the tests adds them.
  return headers.filter(([name]) => name !== 'Connection' && name !== 'Keep-Alive');
}
