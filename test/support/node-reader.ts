import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';

import type { RecordedResponse, SentResponse } from './recorded-response.ts';
import { startRawUpstream, type RawUpstream } from './upstream.ts';

/** Reads responses with the client of node:http, from a server that sends the bytes and closes. */
export class NodeReader implements AsyncDisposable {
  readonly #server: RawUpstream;
  #bytes = '';

  static async start(): Promise<NodeReader> {
    const server = await startRawUpstream((socket) => {
      socket.once('data', () => socket.end(reader.#bytes, 'latin1'));
    });
    const reader = new NodeReader(server);
    return reader;
  }

  private constructor(server: RawUpstream) {
    this.#server = server;
  }

  /** One response at a time. `isReusable` tells what the response itself says. */
  async read({ method = 'GET', bytes }: SentResponse): Promise<RecordedResponse> {
    this.#bytes = bytes;
    const agent = new Agent({ keepAlive: true });
    const { port } = this.#server;
    const sent = request({ host: '127.0.0.1', port, method, agent });
    const record: RecordedResponse = { informational: [], body: '', isReusable: false };
    const refused = await recordInto(record, sent);
    if (refused === undefined) record.isReusable = sent.shouldKeepAlive;
    else record.refused = refused;
    agent.destroy();
    return record;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

/** Sends a request and records its response. Resolves with the error, if there is one. */
function recordInto(record: RecordedResponse, sent: ClientRequest): Promise<string | undefined> {
  return new Promise((resolve) => {
    const fail = (error: Error): void =>
      resolve('code' in error ? String(error.code) : error.message);
    sent.on('error', fail);
    // Node closes the connection without an error after a 101 that nobody listens for.
    sent.on('close', () => {
      if (record.status === undefined) resolve('closed without a response');
    });
    sent.on('information', ({ statusCode, rawHeaders }) => {
      record.informational.push({ status: statusCode, fields: [...rawHeaders] });
    });
    sent.on('response', (response: IncomingMessage) => {
      record.status = response.statusCode ?? 0;
      record.reason = response.statusMessage ?? '';
      record.fields = [...response.rawHeaders];
      response.setEncoding('latin1');
      response.on('data', (part: string) => (record.body += part));
      response.on('error', fail);
      response.on('end', () => {
        record.trailers = [...response.rawTrailers];
        resolve(undefined);
      });
    });
    sent.end();
  });
}
