import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { UpstreamUnreachableError } from '../../errors/upstream-errors.ts';
import { closeGently } from '../../http/close-gently.ts';
import { rawHead } from '../../http/raw-response.ts';
import type { UpstreamRequest } from '../request/upstream-request.ts';
import { isBodiless, responseHeaders } from '../response/response-headers.ts';
import { isFinalStatus } from '../response/response-status.ts';

/**
 * Passes on the response of an upstream that declined a WebSocket, and closes the connection. Throws if
 * there is no such response. Returns the function that cuts the response off, so that the client knows
 * that it is incomplete; it does nothing after the end.
 */
export function relayDeclined(
  response: IncomingMessage,
  socket: Duplex,
  { passResponseHeaders: passed }: UpstreamRequest,
): () => void {
  const { statusCode: status = 0, rawHeaders } = response;
  if (!isFinalStatus(status)) throw new UpstreamUnreachableError('the response is not final');
  const hasNoBody = isBodiless(status);
  const framing = { status, hasNoBody, canChunk: false, passed };
  const { fields, endsWithConnection } = responseHeaders(rawHeaders, framing);
  socket.write(rawHead(status, fields), 'latin1');
  const cutOff = (): void => {
    if (response.readableEnded) return;
    if (endsWithConnection && socket instanceof Socket) socket.resetAndDestroy();
    else socket.destroy();
  };
  response.on('error', cutOff);
  response.on('end', () => closeGently(socket));
  response.pipe(socket, { end: false });
  return cutOff;
}
