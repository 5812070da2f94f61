import {
  ServerResponse,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
} from 'node:http';

import { isDistrusted } from '../http/distrust.ts';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A body of at most this length is read and forgotten, so that the connection can be kept. */
const FORGETTABLE_BYTES = 64 * 1024;

/**
 * A response that says `Connection: close` when the connection cannot be used after it: the request's
 * body was not read to its end, or the request was one that others may frame differently.
 */
export class FrontResponse extends ServerResponse {
  override writeHead(status: number, reason?: string, headers?: Headers): this;
  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    if (mustClose(this.req)) this.shouldKeepAlive = false;
    if (reason === undefined || typeof reason === 'string') {
      return super.writeHead(status, reason, headers);
    }
    return super.writeHead(status, reason);
  }
}

function mustClose(message: IncomingMessage): boolean {
  if (isDistrusted(message)) return true;
  if (message.complete) return false;
  const { headers } = message;
  if (headers['transfer-encoding'] !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > FORGETTABLE_BYTES;
}
