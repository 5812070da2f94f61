import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { TLSSocket } from 'node:tls';

import type { ClientResponse } from '../http/client-response.ts';
import { isDistrusted } from '../http/distrust.ts';
import { GatheringResponse } from './gathering-response.ts';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A body of at most this length is read and discarded, so that the connection can be kept. */
const DISCARDABLE_BYTES = 64 * 1024;

const EARLY_HINTS = 103;

/**
 * A response with `Connection: close` when the connection cannot be used after it: the request's body
 * was not read to its end, or other servers may frame the request differently.
 */
export class FrontResponse extends GatheringResponse implements ClientResponse {
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
}

function mustClose(message: IncomingMessage): boolean {
  if (isDistrusted(message)) return true;
  if (message.complete) return false;
  const { headers } = message;
  if (headers['transfer-encoding'] !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > DISCARDABLE_BYTES;
}
