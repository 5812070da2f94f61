import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { UpstreamUnreachableError } from '../../errors/upstream-errors.ts';
import { closeGently } from '../../http/close-gently.ts';
import { rawHead } from '../../http/raw-response.ts';
import { isBodiless, responseHeaders } from '../response/response-headers.ts';
import { SWITCHING_PROTOCOLS } from './handshake-fields.ts';

/**
 * Passes on the response of an upstream that declined a WebSocket, and closes the connection. Throws if
 * there is no such response.
 */
export function relayDeclined(response: IncomingMessage, socket: Duplex): void {
  const { statusCode: status = 0, rawHeaders } = response;
  // A 101 without `Connection: Upgrade` is neither a response nor an upgrade.
  if (status === SWITCHING_PROTOCOLS)
    throw new UpstreamUnreachableError('the 101 response has no Connection: Upgrade');
  const hasNoBody = isBodiless(status);
  const framing = { status, hasNoBody, canChunk: false };
  const { fields, endsWithConnection } = responseHeaders(rawHeaders, framing);
  socket.write(rawHead(status, fields), 'latin1');
  response.on('error', () => {
    if (endsWithConnection && socket instanceof Socket) socket.resetAndDestroy();
    else socket.destroy();
  });
  response.on('end', () => closeGently(socket));
  response.pipe(socket, { end: false });
}
