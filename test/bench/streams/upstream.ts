/**
 * The upstream of all subjects. A GET with `Accept: text/event-stream` opens an event stream; the parent says
 * to which path's streams an event is sent. Other requests send or receive a large body: in chunks, if their
 * path is `/chunked`.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { serveParent } from '../support/subject-process.ts';
import { BODY_BYTES, BODY_PART, eventOf, type Broadcast } from './workload.ts';

const streams = new Map<string, ServerResponse[]>();

function openStream(path: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  const open = streams.get(path) ?? [];
  streams.set(path, open);
  open.push(response);
}

async function sendBody(path: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, path === '/chunked' ? {} : { 'content-length': BODY_BYTES });
  for (let sent = 0; sent < BODY_BYTES; sent += BODY_PART.length) {
    if (!response.write(BODY_PART)) await once(response, 'drain');
  }
  response.end();
}

/** Responds with the number of bytes that it received. */
async function countBody(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let bytes = 0;
  request.on('data', (part: Buffer) => (bytes += part.length));
  await once(request, 'end');
  response.end(String(bytes));
}

process.on('message', ({ path, number }: Broadcast) => {
  const event = eventOf(number);
  for (const stream of streams.get(path) ?? []) stream.write(event);
});

await serveParent(
  createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { url: path = '', method, headers } = request;
    if (headers.accept === 'text/event-stream') openStream(path, response);
    else if (method === 'GET') void sendBody(path, response);
    else void countBody(request, response);
  }),
);
