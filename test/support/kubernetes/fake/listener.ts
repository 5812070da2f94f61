import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';

const KEEP_ALIVE_MS = 120_000;

/** Makes a socket that can be closed, and opened again on the same port. */
export class Listener {
  readonly #server: Server;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();

  constructor(
    port: number,
    certificate: { readonly cert: string; readonly key: string },
    handle: (request: IncomingMessage, response: ServerResponse) => void,
  ) {
    this.#port = port;
    this.#server = createServer({ ...certificate, keepAliveTimeout: KEEP_ALIVE_MS }, handle);
    // Below TLS, so that connections in a handshake count too.
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  async open(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Refuses connections, and breaks open ones. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}
