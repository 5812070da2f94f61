import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/**
 * Connects to a port of this machine, and reads into one buffer, which costs a client less than a new one
 * for each read. A part is valid during the call.
 */
export async function openBufferedSocket(
  port: number,
  buffer: Buffer,
  receive: (part: Buffer) => void,
): Promise<Socket> {
  const socket = connect({
    ...{ host: '127.0.0.1', port },
    onread: {
      buffer,
      callback: (length) => {
        receive(buffer.subarray(0, length));
        return true;
      },
    },
  });
  await once(socket, 'connect');
  return socket;
}
