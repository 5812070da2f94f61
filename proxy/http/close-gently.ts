import type { Duplex } from 'node:stream';

const LINGER_MS = 5_000;

/**
 * Ends a connection so that the last bytes written arrive: bytes of the other side are read and
 * discarded until it closes too, or for `lingerMs`. Closing with unread bytes resets the connection,
 * and a reset discards what the other side has not read yet (RFC 9112, section 9.6).
 */
export function closeGently(socket: Duplex, lingerMs = LINGER_MS): void {
  if (socket.destroyed) return;
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
