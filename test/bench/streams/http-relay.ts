/**
 * The least that a proxy on `node:http` can do for a body: it passes parts on, stops when the other side is
 * slow, and frees the memory of what has left. Its argument is the port of the upstream.
 */
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { Readable, Writable } from 'node:stream';

import { serveParent } from '../support/subject-process.ts';

/** A shorter part may share its memory with others. */
const LONG_BYTES = 4 * 1024;

const agent = new Agent({ keepAlive: true });
const port = Number(process.argv[2]);

function pass(from: Readable, to: Writable): void {
  let leaving: Buffer[] = [];
  const free = (): void => {
    for (const { buffer } of leaving) if (buffer instanceof ArrayBuffer) buffer.transfer(0);
    leaving = [];
  };
  from.on('data', (part: Buffer) => {
    to.write(part);
    if (part.length >= LONG_BYTES && part.buffer.byteLength === part.length) leaving.push(part);
    if (to.writableLength === 0) free();
    else if (to.writableNeedDrain) from.pause();
  });
  to.on('drain', () => {
    if (to.writableLength === 0) free();
    from.resume();
  });
  from.on('end', () => to.end());
}

await serveParent(
  createServer((message, response) => {
    const { method, url: path, headers } = message;
    const request = httpRequest({ agent, port, host: '127.0.0.1', method, path, headers });
    request.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      pass(answer, response);
    });
    pass(message, request);
  }),
);
