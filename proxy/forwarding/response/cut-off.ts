import type { ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';

/**
 * Breaks off a response so that the client knows that it is not whole.
 *
 * A body that ends with its connection looks whole after an orderly close (RFC 9112, section 8), so
 * that connection is reset.
 */
export function cutOff(response: ServerResponse, endsWithConnection: boolean): void {
  const { socket } = response;
  if (endsWithConnection && socket !== null && !(socket instanceof TLSSocket)) {
    socket.resetAndDestroy();
    return;
  }
  response.destroy();
}
