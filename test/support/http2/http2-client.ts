import { once } from 'node:events';
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2';

import { HTTP2_AUTHORITY } from './http2-listener.ts';

/** A response as Node's client received it. */
export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  readonly trailers: Readonly<Record<string, unknown>> | undefined;
  /** Code with which the stream ended; 0 if there was no error. */
  readonly code: number;
}

/** Node's client on one connection to a front. */
export class Http2Client implements AsyncDisposable {
  readonly session: ClientHttp2Session;
  /** Settles when the connection is closed. */
  readonly closed: Promise<void>;

  constructor(port: number, host = 'app.test') {
    this.session = connect(`https://127.0.0.1:${String(port)}`, {
      ca: HTTP2_AUTHORITY,
      servername: host,
    });
    this.session.on('error', () => undefined);
    this.closed = new Promise((resolve) => void this.session.once('close', resolve));
  }

  /** Opens a stream, whose errors are in `rstCode`. */
  open(fields: OutgoingHttpHeaders = {}, hasBody = false): ClientHttp2Stream {
    const stream = this.session.request(
      { ':authority': 'app.test', ':path': '/x', ...fields },
      { endStream: !hasBody },
    );
    stream.on('error', () => undefined);
    return stream;
  }

  /** Sends a whole request. */
  send(fields: OutgoingHttpHeaders = {}, body?: string | Buffer): Promise<Http2Answer> {
    const stream = this.open(fields, body !== undefined);
    if (body !== undefined) stream.end(body);
    return answerOn(stream);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.session.destroy();
    await this.closed;
  }
}

/** Reads a response to its end, whatever that is. */
export async function answerOn(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const parts: Buffer[] = [];
  let headers: Readonly<Record<string, unknown>> = {};
  let trailers: Readonly<Record<string, unknown>> | undefined;
  stream.on('response', (fields) => (headers = fields));
  stream.on('trailers', (fields) => (trailers = { ...fields }));
  stream.on('data', (part: Buffer) => parts.push(part));
  await new Promise((resolve) => void stream.once('close', resolve));
  const status = Number(headers[':status'] ?? 0);
  return { status, headers, body: Buffer.concat(parts), trailers, code: stream.rstCode };
}

/** Waits for the head of a response, and returns its status. */
export async function statusOn(stream: ClientHttp2Stream): Promise<number> {
  const [fields] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>];
  return Number(fields[':status']);
}
