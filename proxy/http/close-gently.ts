import type { Duplex } from 'node:stream';

const LINGER_MS = 5_000;

/** More than a client sends before it can know of the response, on any usual connection. */
const LINGER_BYTES = 16 * 1024 * 1024;

/**
 * Ends a connection so that the last bytes written arrive: bytes of the other side are read and
 * discarded until it closes too, for `lingerMs` and up to a number of bytes. Closing with unread bytes
 * resets the connection, and a reset discards what the other side has not read yet (RFC 9112, section 9.6).
 */
export function closeGently(socket: Duplex, lingerMs = LINGER_MS): void {
  if (socket.destroyed) return;
  socket.end();
  let discarded = 0;
  socket.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) socket.destroy();
  });
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
