/**
 * The upstream of all subjects: on sockets, because its core is the load generator's too. It reads requests
 * only as far as it must know where they end, and sends what node:http would send.
 */
import { createServer, type Socket } from 'node:net';

import { serveParent } from '../support/subject-process.ts';
import { TOOL_RESULT } from './workload.ts';

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked\r\n/i;
const LAST_CHUNK = '0\r\n\r\n';
const DATE_MS = 1000;

let response = makeResponse();
setInterval(() => (response = makeResponse()), DATE_MS).unref();

function makeResponse(): Buffer {
  const head = [
    'HTTP/1.1 200 OK',
    'content-type: application/json',
    `content-length: ${String(Buffer.byteLength(TOOL_RESULT))}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: keep-alive',
    'Keep-Alive: timeout=60',
  ];
  return Buffer.from(`${head.join('\r\n')}${HEAD_END}${TOOL_RESULT}`);
}

/** Responds to each request of a connection once it is complete. */
function serve(socket: Socket): void {
  let received = '';
  socket.setNoDelay();
  socket.on('error', () => socket.destroy());
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    const bodyAt = received.indexOf(HEAD_END) + HEAD_END.length;
    if (bodyAt < HEAD_END.length || !isComplete(received, bodyAt)) return;
    received = '';
    socket.write(response);
  });
}

function isComplete(received: string, bodyAt: number): boolean {
  const head = received.slice(0, bodyAt);
  if (CHUNKED.test(head)) return received.endsWith(LAST_CHUNK);
  return received.length >= bodyAt + Number(LENGTH.exec(head)?.[1] ?? 0);
}

await serveParent(createServer(serve));
