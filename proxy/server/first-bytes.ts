import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';

/** What a reader of first bytes found: how many it takes from the connection, and what they say. */
export interface FirstBytes<Value> {
  readonly taken: number;
  readonly value: Value;
}

/**
 * Reads the first bytes of a connection until `find` knows what they are, and leaves all but the taken ones
 * for the next reader. `find` returns how many bytes it needs at least if it needs more. `done` gets
 * undefined if the connection ends first.
 */
export function readFirstBytes<Value>(
  socket: Socket,
  find: (bytes: Buffer) => FirstBytes<Value> | number,
  done: (value: Value | undefined) => void,
): void {
  const parts: Buffer[] = [];
  let length = 0;
  // Attack: bytes that arrive one by one would all be copied for each of them.
  let needed = 1;
  const stop = (): void => {
    socket.off('readable', read);
    socket.off('end', end);
    socket.off('close', end);
  };
  const end = (): void => {
    stop();
    done(undefined);
  };
  const read = (): void => {
    for (let part = readPart(socket); part !== null; part = readPart(socket)) {
      parts.push(part);
      length += part.length;
    }
    if (length < needed) return;
    const bytes = Buffer.concat(parts.splice(0));
    const found = find(bytes);
    if (typeof found === 'number') {
      parts.push(bytes);
      needed = Math.max(found, length + 1);
      return;
    }
    stop();
    const rest = bytes.subarray(found.taken);
    if (rest.length > 0) socket.unshift(rest);
    done(found.value);
  };
  socket.on('readable', read);
  socket.once('end', end);
  socket.once('close', end);
  read();
}

function readPart(socket: Socket): Buffer | null {
  return socket.read() as Buffer | null;
}
