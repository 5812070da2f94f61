import { once } from 'node:events';
import type { Socket } from 'node:net';

import { openBufferedSocket } from '../support/buffered-socket.ts';
import { BODY_BYTES, BODY_PART } from './workload.ts';

const BUFFER_BYTES = 256 * 1024;

/** How a large body is framed. */
export type BodyFraming = 'Content-Length' | 'chunked';

/** Downloads a large body, and throws if it does not arrive whole. */
export async function download(port: number, framing: BodyFraming): Promise<void> {
  let bytes = 0;
  const socket = await open(port, (part) => (bytes += part.length));
  socket.write(
    `GET ${pathOf(framing)} HTTP/1.1\r\nHost: localhost:${String(port)}\r\nConnection: close\r\n\r\n`,
  );
  await once(socket, 'close');
  if (bytes < BODY_BYTES) throw new Error(`a download ended after ${String(bytes)} bytes`);
}

/** Uploads a large body, and throws if the upstream has not counted all of it. */
export async function upload(port: number, framing: BodyFraming): Promise<void> {
  let text = '';
  const socket = await open(port, (part) => (text += part.toString('latin1')));
  const closed = once(socket, 'close');
  const isChunked = framing === 'chunked';
  const field = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${String(BODY_BYTES)}`;
  const fields = `Host: localhost:${String(port)}\r\nConnection: close\r\n${field}`;
  socket.write(`POST ${pathOf(framing)} HTTP/1.1\r\n${fields}\r\n\r\n`);
  const part = isChunked ? chunkOf(BODY_PART) : BODY_PART;
  for (let sent = 0; sent < BODY_BYTES; sent += BODY_PART.length) {
    if (!socket.write(part)) await once(socket, 'drain');
  }
  if (isChunked) socket.write('0\r\n\r\n');
  await closed;
  if (!text.includes(String(BODY_BYTES))) throw new Error(`an upload was answered: ${text}`);
}

function pathOf(framing: BodyFraming): string {
  return framing === 'chunked' ? '/chunked' : '/length';
}

function chunkOf(part: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
}

function open(port: number, receive: (part: Buffer) => void): Promise<Socket> {
  return openBufferedSocket(port, Buffer.allocUnsafe(BUFFER_BYTES), receive);
}
