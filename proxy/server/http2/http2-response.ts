import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import { validateHeaderValue, type OutgoingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';

import type { ClientResponse } from '../../http/client-response.ts';
import type { Http2Message } from './http2-message.ts';

const CONTINUE = 100;
const EARLY_HINTS = 103;

/** A part up to this length is copied, so that its sender need not wait until it has left. */
const MAX_COPIED_BYTES = 16 * 1024;

/** A response of HTTP/2. */
export class Http2Response extends EventEmitter implements ClientResponse {
  readonly req: Http2Message;
  readonly canChunk = true;
  readonly #stream: ServerHttp2Stream;
  /** A head that leaves with the end of the body. */
  #head: readonly string[] | undefined;
  #hasBegun = false;
  #hasEnded = false;
  #isFinished = false;
  /** Parts wait, so that `drain` will be emitted. */
  #isBehind = false;
  #trailers: readonly (readonly [string, string])[] = [];

  constructor(stream: ServerHttp2Stream, req: Http2Message) {
    super();
    this.#stream = stream;
    this.req = req;
  }

  get headersSent(): boolean {
    return this.#hasBegun;
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || (this.#stream.closed && !this.#hasEnded);
  }

  get writableEnded(): boolean {
    return this.#hasEnded;
  }

  get writableFinished(): boolean {
    return this.#isFinished || (this.#hasEnded && this.#stream.writableFinished);
  }

  /** Number of bytes of the body that wait until the client takes them. */
  get waitingBytes(): number {
    return this.#stream.destroyed ? 0 : this.#stream.writableLength;
  }

  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    const fields = [':status', String(status)];
    for (const [name, value] of Object.entries(headers)) {
      // RFC 9113, section 8.2.2: a stream has no fields about its connection.
      if (value === undefined || name.toLowerCase() === 'connection') continue;
      for (const item of [value].flat()) fields.push(name, String(item));
    }
    check(fields);
    this.#hasBegun = true;
    this.#head = fields;
  }

  sendHead(status: number, _reason: string | undefined, fields: string[]): void {
    const list = [':status', String(status), ...fields];
    check(list);
    // To wait for trailers costs a turn of the event loop and a frame.
    const waitForTrailers = fields.some((field, at) => at % 2 === 0 && isTrailer(field));
    this.#stream.respond(list, { waitForTrailers });
    this.#hasBegun = true;
    if (waitForTrailers) this.#stream.once('wantTrailers', () => this.#sendTrailers());
  }

  sendPart(part: Buffer): boolean {
    const stream = this.#stream;
    if (part.length === 0 || this.#isOver()) return true;
    const isCopied = part.length <= MAX_COPIED_BYTES;
    const bytes = isCopied ? Buffer.from(part) : part;
    if (isCopied && !this.#isBehind) {
      if (stream.write(bytes)) return true;
      stream.once('drain', this.#onRoom);
    } else {
      stream.write(bytes, this.#onRoom);
    }
    this.#isBehind = true;
    return false;
  }

  endBody(trailers: readonly [string, string][]): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#trailers = trailers;
    if (!this.#stream.destroyed) this.#stream.end();
  }

  end(body?: string): void {
    const head = this.#head;
    this.#head = undefined;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#stream.destroyed || this.#stream.closed) return;
    const isEmpty = body === undefined || body === '';
    if (head !== undefined) this.#stream.respond([...head], { endStream: isEmpty });
    if (!isEmpty) this.#stream.end(body);
    else this.#stream.end();
  }

  sendHints(fields: string[]): void {
    this.#inform(EARLY_HINTS, fields);
  }

  /** Asks the client for the body (RFC 9110, section 10.1.1). */
  sendContinue(): void {
    this.#inform(CONTINUE, []);
  }

  cutOff(): void {
    this.destroy();
  }

  /** Resets the stream. `close` of Node would first send what marks the end of the body. */
  destroy(): void {
    if (!this.#stream.destroyed) this.#stream.destroy(new Error('the response is broken off'));
  }

  /** Ends the exchange of a stream that is closed. */
  close(isWhole: boolean): void {
    this.#isFinished = this.#hasEnded && isWhole;
    this.emit('close');
  }

  #inform(status: number, fields: readonly string[]): void {
    const { destroyed, closed } = this.#stream;
    if (this.#hasBegun || destroyed || closed) return;
    this.#stream.additionalHeaders({ ':status': status, ...grouped(fields) });
  }

  #isOver(): boolean {
    return this.#hasEnded || this.#stream.writableEnded || this.#stream.destroyed;
  }

  readonly #onRoom = (): void => {
    if (!this.#isBehind || this.#stream.writableLength > 0) return;
    this.#isBehind = false;
    this.emit('drain');
  };

  #sendTrailers(): void {
    if (this.#stream.destroyed || this.#stream.closed) return;
    this.#stream.sendTrailers(grouped(this.#trailers.flat()));
  }
}

function isTrailer(name: string): boolean {
  return name.length === 'trailer'.length && name.toLowerCase() === 'trailer';
}

/** Attack: a line break would become another field where the client passes the response on in HTTP/1.1. */
function check(fields: readonly string[]): void {
  for (let index = 0; index < fields.length; index += 2) {
    validateHeaderValue(fields[index] ?? '', fields[index + 1] ?? '');
  }
}

/** Returns the fields of a flat list by their names. */
function grouped(fields: readonly string[]): Record<string, string[]> {
  const byName = new Map<string, string[]>();
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase();
    const values = byName.get(name) ?? [];
    values.push(fields[index + 1] ?? '');
    byName.set(name, values);
  }
  return Object.fromEntries(byName);
}
