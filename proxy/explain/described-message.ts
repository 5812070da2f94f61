import { Readable } from 'node:stream';

import { requestFields, type RequestFields } from '../http/request-fields.ts';
import type { RequestMessage } from '../http/request-message.ts';

/** A request that somebody asks about, and no client has sent. */
export interface DescribedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  /** Names and values of the header fields, as one flat list with `Host`. */
  readonly fields: readonly string[];
  /** Absent if there is none. */
  readonly body?: Buffer;
  /** The address at the other end of the connection. */
  readonly clientAddress: string;
}

/** A described request in the form in which the gateway receives one. */
export class DescribedMessage extends Readable implements RequestMessage {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestFields;
  readonly rawHeaders: readonly string[];
  readonly rawTrailers: readonly string[] = [];
  readonly httpVersion = '1.1';
  readonly socket: RequestMessage['socket'];
  readonly #body: Buffer | undefined;

  constructor({ method, target, fields, body, clientAddress }: DescribedRequest) {
    super();
    const length = body === undefined ? [] : ['Content-Length', String(body.length)];
    this.method = method;
    this.url = target;
    this.rawHeaders = [...fields, ...length];
    this.headers = requestFields(this.rawHeaders);
    this.socket = { remoteAddress: clientAddress };
    this.#body = body;
  }

  override _read(): void {
    if (this.#body !== undefined && this.#body.length > 0) this.push(this.#body);
    this.push(null);
  }
}
