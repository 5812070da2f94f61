/**
 * The least that a relay on the gateway's own parts does: node:http in front, and the gateway's client behind.
 * It reads the body, sends the request to the upstream and the response to the client, and checks nothing.
 */
import { createServer, type ServerResponse } from 'node:http';

import type { BodyReceiver } from '../../../proxy/http/body-receiver.ts';
import { FrontMessage } from '../../../proxy/server/front-message.ts';
import { ConnectionPool } from '../../../proxy/upstream-client/connection-pool.ts';
import type { ResponseHandler } from '../../../proxy/upstream-client/response-handler.ts';
import { serveParent } from '../support/subject-process.ts';

/** Fields that the client and the server write themselves, as this benchmark spells them. */
const WRITTEN_BY_CLIENT: ReadonlySet<string> = new Set(['host', 'content-length']);
const WRITTEN_BY_SERVER: ReadonlySet<string> = new Set(['Connection', 'Keep-Alive']);

const { hostname, port, host } = new URL(process.argv[2] ?? '');
const pool = new ConnectionPool({ isTls: false, host: hostname, port: Number(port) });

/** One request, whose body and response each arrive in one part, as those of this benchmark do. */
class Relay implements BodyReceiver, ResponseHandler {
  readonly #message: FrontMessage;
  readonly #response: ServerResponse<FrontMessage>;
  #body: Buffer | undefined;
  #text = '';

  constructor(message: FrontMessage, response: ServerResponse<FrontMessage>) {
    this.#message = message;
    this.#response = response;
  }

  onPart(part: Buffer): void {
    if (this.#body !== undefined) throw new Error('a body of this benchmark has one part');
    this.#body = part;
  }

  onEnd(): void {
    const { method = '', url: path = '', rawHeaders } = this.#message;
    const headers = without(WRITTEN_BY_CLIENT, rawHeaders);
    pool.send({ method, path, host, headers, body: this.#body, responseTimeoutMs: 0 }, this);
  }

  /** The load closes connections that have no request. */
  onClose(): void {
    this.#response.destroy();
  }

  onRequestStart(): boolean {
    return true;
  }

  onInformation(): void {
    throw new Error('the upstream of this benchmark sends no hints');
  }

  onResponseStart(status: number, _reason: string, rawHeaders: readonly string[]): void {
    this.#response.writeHead(status, without(WRITTEN_BY_SERVER, rawHeaders));
  }

  onResponseData(chunk: Buffer): void {
    this.#text += chunk.toString('latin1');
  }

  onResponseEnd(): void {
    this.#response.end(this.#text, 'latin1');
  }

  onResponseError(error: Error): void {
    this.#response.destroy(error);
  }
}

function without(names: ReadonlySet<string>, fields: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    if (!names.has(name)) kept.push(name, fields[index + 1] ?? '');
  }
  return kept;
}

await serveParent(
  createServer({ IncomingMessage: FrontMessage, keepAliveTimeout: 60_000 }, (message, response) => {
    message.deliverTo(new Relay(message, response));
  }),
);
