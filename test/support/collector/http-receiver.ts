import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

import protobuf from 'protobufjs';

import type { ExportAnswer } from './export-answer.ts';
import { traceResponseType } from './otlp-definitions.ts';
import type { RawExport } from './receive-export.ts';
import { ViolationError } from './violation-error.ts';

/** A port on which a collector listens. */
export interface Receiver extends AsyncDisposable {
  readonly port: number;
}

/** Handles an export; undefined leaves the exporter without an answer. */
export type HandleExport = (received: RawExport) => Promise<ExportAnswer | undefined>;

const STATUSES = { unavailable: 503, denied: 403, invalid: 400 } as const;

const PROTOCOLS = {
  'application/x-protobuf': 'http/protobuf',
  'application/json': 'http/json',
} as const;

/** Receives OTLP over HTTP, in protobuf and JSON. `refuse` is told what was not OTLP over HTTP at all. */
export async function startHttpReceiver(
  port: number,
  handle: HandleExport,
  refuse: (violation: ViolationError) => void,
): Promise<Receiver> {
  const server = createServer((request, response) => {
    void receive(request)
      .then(async (received) => {
        const answer = await handle(received);
        if (answer !== undefined) respond(response, received.protocol, answer);
      })
      .catch((error: unknown) => {
        // An exporter that gives up in the middle of its request is not wrong.
        if (error instanceof ViolationError) refuse(error);
        response.writeHead(400).end();
      });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port, // a TCP server that listens has one
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function receive(request: IncomingMessage): Promise<RawExport> {
  const body = await buffer(request);
  const { method = '', url = '', headers } = request;
  if (method !== 'POST' || url !== '/v1/traces')
    throw new ViolationError('HTTP', `${method} ${url}`);
  const type = headers['content-type'] ?? '';
  if (!isProtocolType(type)) throw new ViolationError('Content-Type', `"${type}"`);
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding !== 'gzip' && coding !== 'identity') {
    throw new ViolationError('Content-Encoding', `"${coding}"`);
  }
  return {
    protocol: PROTOCOLS[type],
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, String(value)]),
    ),
    body: coding === 'gzip' ? gunzipSync(body) : body,
  };
}

function isProtocolType(type: string): type is keyof typeof PROTOCOLS {
  return Object.hasOwn(PROTOCOLS, type);
}

/** Answers in the encoding of the request. An error's body is a Status, whose field 2 is its message. */
function respond(
  response: ServerResponse,
  protocol: RawExport['protocol'],
  answer: ExportAnswer,
): void {
  if ('error' in answer) {
    const { error: message, kind } = answer;
    const status = protobuf.Writer.create()
      .uint32((2 << 3) | 2)
      .string(message);
    send(response, STATUSES[kind], protocol === 'http/json' ? { message } : status.finish());
    return;
  }
  const message = traceResponseType.fromObject(answer.response);
  const body =
    protocol === 'http/json' ? message.toJSON() : traceResponseType.encode(message).finish();
  send(response, 200, body);
}

function send(response: ServerResponse, status: number, body: object): void {
  const [type, bytes] =
    body instanceof Uint8Array
      ? ['application/x-protobuf', body]
      : ['application/json', JSON.stringify(body)];
  response.writeHead(status, { 'content-type': type }).end(bytes);
}
