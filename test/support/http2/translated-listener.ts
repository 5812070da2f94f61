import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

import type { ListenerHandlers } from '../../../proxy/http/listener-handlers.ts';
import type { ListenerLimits } from '../../../proxy/server/connections.ts';
import type { Listener } from '../../../proxy/server/listener.ts';
import { createHttp2Listener, HTTP2_AUTHORITY } from './http2-listener.ts';

const BAD_REQUEST = 400;

/** Fields about a connection of HTTP/1.1. */
const OF_CONNECTION = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Listens for HTTP/2, with an intermediary on the port that clients are given: it takes HTTP/1.1, and sends each
 * request on as a stream. So tests that speak HTTP/1.1 show what a gateway does with HTTP/2.
 */
export async function createTranslatedListener(
  address: unknown,
  handlers: ListenerHandlers,
  limits?: ListenerLimits,
): Promise<Listener> {
  const listener = await createHttp2Listener(address, handlers, limits);
  const session = connect(`https://127.0.0.1:${String(listener.port)}`, {
    ca: HTTP2_AUTHORITY,
    servername: 'app.test',
    settings: { initialWindowSize: 256 * 1024 },
  });
  session.on('error', () => undefined);
  const server = createServer({ requireHostHeader: false }, (message, response) => {
    translate(message, response, session);
  });
  server.on('checkContinue', (message, response) => translate(message, response, session));
  server.on('checkExpectation', (message, response) => translate(message, response, session));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    ...listener,
    port,
    async close(drainMs, onTimeout) {
      session.destroy();
      await listener.close(drainMs, onTimeout);
      server.closeAllConnections();
      server.close();
    },
  };
}

function translate(
  message: IncomingMessage,
  response: ServerResponse,
  session: ClientHttp2Session,
): void {
  const { headers } = message;
  const hasBody = 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0;
  const stream = session.request(streamFields(message), {
    endStream: !hasBody,
    waitForTrailers: hasBody,
  });
  stream.on('error', () => undefined);
  if (hasBody) sendBody(message, stream);
  response.once('close', () => {
    if (!response.writableFinished) stream.close(constants.NGHTTP2_CANCEL);
  });
  receive(stream, response);
}

/** Returns pseudo fields and fields as one flat list. */
function streamFields({ method = '', url = '', headers, rawHeaders }: IncomingMessage): string[] {
  const { host = '', connection = '' } = headers;
  const [, authority = host, path = url] = /^http:\/\/([^/]+)(.*)$/.exec(url) ?? [];
  const listed = connection.split(',').map((name) => name.trim().toLowerCase());
  const fields = [':method', method, ':scheme', 'https', ':authority', authority];
  fields.push(':path', path === '' ? '/' : path);
  if (authority !== host) fields.push('host', host);
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    if (OF_CONNECTION.has(name) || listed.includes(name)) continue;
    fields.push(name, rawHeaders[index + 1] ?? '');
  }
  return fields;
}

function sendBody(message: IncomingMessage, stream: ClientHttp2Stream): void {
  message.pipe(stream);
  stream.once('wantTrailers', () => {
    const trailers: OutgoingHttpHeaders = {};
    for (let index = 0; index < message.rawTrailers.length; index += 2) {
      trailers[message.rawTrailers[index] ?? ''] = message.rawTrailers[index + 1];
    }
    stream.sendTrailers(trailers);
  });
  // A body that is broken off.
  message.once('close', () => {
    if (!message.complete) stream.close(constants.NGHTTP2_CANCEL);
  });
}

function receive(stream: ClientHttp2Stream, response: ServerResponse): void {
  stream.on('headers', (fields, _flags, raw: string[] = []) => {
    if (fields[':status'] === 100) response.writeContinue();
    else response.writeInformation(Number(fields[':status']), withoutPseudo(raw));
  });
  stream.once('response', (fields: IncomingHttpHeaders, _flags: unknown, raw: string[]) => {
    response.sendDate = false;
    response.writeHead(Number(fields[':status']), withoutPseudo(raw));
    // Node sends a head alone, or with text, in UTF-8.
    response.write(Buffer.alloc(0));
    stream.pipe(response, { end: false });
  });
  stream.on('trailers', (_fields: unknown, _flags: unknown, raw: string[] = []) => {
    response.addTrailers(pairs(raw));
  });
  stream.once('close', () => {
    const { rstCode, readableEnded } = stream;
    if (rstCode === constants.NGHTTP2_NO_ERROR && readableEnded) response.end();
    else if (rstCode === constants.NGHTTP2_PROTOCOL_ERROR && !response.headersSent) {
      response.writeHead(BAD_REQUEST).end();
    } else response.destroy();
  });
}

function withoutPseudo(raw: readonly string[]): string[] {
  return pairs(raw)
    .filter(([name]) => !name.startsWith(':'))
    .flat();
}

function pairs(raw: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let index = 0; index < raw.length; index += 2) {
    list.push([raw[index] ?? '', raw[index + 1] ?? '']);
  }
  return list;
}
