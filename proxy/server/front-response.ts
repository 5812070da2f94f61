import {
  ServerResponse,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
} from 'node:http';
import { TLSSocket } from 'node:tls';

import type { ClientResponse } from '../http/client-response.ts';
import { isDistrusted } from '../http/distrust.ts';
import type { FrontMessage } from './front-message.ts';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A body of at most this length is read and discarded, so that the connection can be kept. */
const DISCARDABLE_BYTES = 64 * 1024;

/**
 * A part of the body up to this length becomes text, together with what frames it. Node sends text in one
 * piece with the head before it, and copies up to 16 KiB of it without an allocation.
 */
const MAX_TEXT_BYTES = 12 * 1024;

const LINE_END = '\r\n';
const LAST_CHUNK = '0\r\n\r\n';

const EARLY_HINTS = 103;

/**
 * A response with `Connection: close` when the connection cannot be used after it: the request's body
 * was not read to its end, or other servers may frame the request differently.
 */
export class FrontResponse extends ServerResponse<FrontMessage> implements ClientResponse {
  /** The parts of the body are chunks, which are framed here: Node would send each in four pieces. */
  #framesChunks = false;

  get canChunk(): boolean {
    return this.useChunkedEncodingByDefault;
  }

  override writeHead(status: number, reason?: string, headers?: Headers): this;
  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    if (mustClose(this.req)) this.shouldKeepAlive = false;
    if (reason === undefined || typeof reason === 'string') {
      return super.writeHead(status, reason, headers);
    }
    return super.writeHead(status, reason);
  }

  writePart(part: Buffer): boolean {
    // An empty chunk would end the body.
    if (part.length === 0) return true;
    this.#takeFraming();
    if (part.length <= MAX_TEXT_BYTES) return this.write(this.#textOf(part), 'latin1');
    if (!this.#framesChunks) return this.write(part);
    this.write(sizeLine(part), 'latin1');
    this.write(part);
    return this.write(LINE_END, 'latin1');
  }

  endBody(last: Buffer | undefined, trailers: readonly [string, string][]): void {
    if (last !== undefined && last.length <= MAX_TEXT_BYTES && trailers.length === 0) {
      this.#takeFraming();
      const text = this.#textOf(last);
      this.end(this.#framesChunks ? text + LAST_CHUNK : text, 'latin1');
      return;
    }
    if (last !== undefined) this.writePart(last);
    if (this.#framesChunks) this.chunkedEncoding = true;
    this.addTrailers(trailers);
    this.end();
  }

  sendHints(fields: string[]): void {
    // RFC 9110, section 15.2: no informational responses to HTTP/1.0. Node 24 cannot send these.
    if (this.req.httpVersion === '1.0' || !('writeInformation' in this)) return;
    this.writeInformation(EARLY_HINTS, fields);
  }

  cutOff(endsWithConnection: boolean): void {
    const { socket } = this;
    // RFC 9112, section 8: a body that ends with its connection looks whole after an orderly close.
    if (endsWithConnection && socket !== null && !(socket instanceof TLSSocket)) {
      socket.resetAndDestroy();
      return;
    }
    this.destroy();
  }

  #takeFraming(): void {
    if (!this.chunkedEncoding) return;
    this.chunkedEncoding = false;
    this.#framesChunks = true;
  }

  #textOf(part: Buffer): string {
    const text = part.toString('latin1');
    return this.#framesChunks ? sizeLine(part) + text + LINE_END : text;
  }
}

/** RFC 9112, section 7.1: the size of a chunk in hexadecimal digits. */
function sizeLine(chunk: Buffer): string {
  return chunk.length.toString(16) + LINE_END;
}

function mustClose(message: IncomingMessage): boolean {
  if (isDistrusted(message)) return true;
  if (message.complete) return false;
  const { headers } = message;
  if (headers['transfer-encoding'] !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > DISCARDABLE_BYTES;
}
