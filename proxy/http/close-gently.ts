import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How long and how much of the other side's bytes a closing connection is read. */
export interface Linger {
  readonly lingerMs: number;
  readonly lingerBytes: number;
}

/** Bytes: what a client uploads in that time, even if it reads no response before the end of its body. */
export const LINGER: Linger = { lingerMs: 5_000, lingerBytes: 256 * 1024 * 1024 };

/**
 * Ends a connection so that the last bytes written arrive: bytes of the other side are read and
 * discarded until it closes too, for a limited time and up to a limited number. Closing with unread bytes
 * resets the connection, and a reset discards what the other side has not read yet (RFC 9112, section 9.6).
 */
export function closeGently(socket: Duplex, { lingerMs, lingerBytes }: Linger = LINGER): void {
  if (socket.destroyed) return;
  socket.end();
  socket.resume();
  const limit = bytesRead(socket) + lingerBytes;
  // A listener for data would take the connection from the HTTP parser, which may still deliver a body.
  const check = setInterval(() => {
    if (bytesRead(socket) > limit) socket.destroy();
  }, CHECK_MS);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => {
    clearInterval(check);
    clearTimeout(timer);
  });
}

const CHECK_MS = 100;

function bytesRead(socket: Duplex): number {
  return socket instanceof Socket ? socket.bytesRead : 0;
}
