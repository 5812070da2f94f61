import type { Socket } from 'node:net';

import type { ListenerHandlers } from '../http/listener-handlers.ts';
import { readFirstBytes, type FirstBytes } from './first-bytes.ts';
import { parseProxyHeader, type ProxyHeader } from './proxy-protocol/parse-proxy-header.ts';

/** Options of an `Acceptor`. */
interface AcceptorOptions {
  readonly handlers: ListenerHandlers;
  /** How long a trusted proxy may take to begin, and for its header. */
  readonly headerMs: number;
  /** Serves a connection of a client with this address. */
  readonly serve: (socket: Socket, address: string) => void;
}

/** What is known of a connection that is open. */
interface Accepted {
  readonly socket: Socket;
  /** That of the client, for which the connection is counted; undefined once it is not counted. */
  address: string | undefined;
}

/**
 * Accepts the connections of a listener: counts them, and lets trusted proxies say by a header of the PROXY
 * protocol whose connection they pass on.
 */
export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #open = new Set<Socket>();

  constructor(options: AcceptorOptions) {
    this.#options = options;
  }

  /** Number of open connections. */
  get size(): number {
    return this.#open.size;
  }

  readonly accept = (socket: Socket): void => {
    // Undefined once the client has left.
    const { remoteAddress: address = '' } = socket;
    const accepted: Accepted = { socket, address };
    if (!this.#admit(accepted, address)) return;
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#release(accepted);
    });
    const { handlers, serve } = this.#options;
    if (handlers.isTrustedProxy?.(address) === true) this.#readHeader(accepted, address);
    else serve(socket, address);
  };

  /** Closes connections on which nothing was received. */
  closeUnused(): void {
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #admit(accepted: Accepted, address: string): boolean {
    const { handlers } = this.#options;
    if (handlers.admit?.(address) === false) {
      accepted.address = undefined;
      // A reset costs least: nothing is sent, and nothing is kept.
      accepted.socket.resetAndDestroy();
      return false;
    }
    accepted.address = address;
    return true;
  }

  #release(accepted: Accepted): void {
    if (accepted.address !== undefined) this.#options.handlers.release?.(accepted.address);
    accepted.address = undefined;
  }

  #readHeader(accepted: Accepted, proxy: string): void {
    const { handlers, headerMs } = this.#options;
    const { socket } = accepted;
    socket.on('error', () => socket.destroy());
    const refuse = (): void => {
      handlers.refusedProxyHeader?.(proxy);
      socket.resetAndDestroy();
    };
    const timer = setTimeout(() => {
      // A connection that a proxy holds in reserve.
      if (socket.bytesRead === 0) socket.destroy();
      else refuse();
    }, headerMs);
    socket.once('close', () => clearTimeout(timer));
    readFirstBytes(socket, findHeader, (header) => {
      clearTimeout(timer);
      if (header === undefined) socket.destroy();
      else if (header.kind === 'malformed') refuse();
      else this.#serveFor(accepted, proxy, header.address);
    });
  }

  /** Serves a connection that a trusted proxy passes on for a client; its own if that is undefined. */
  #serveFor(accepted: Accepted, proxy: string, client: string | undefined): void {
    const { socket } = accepted;
    if (client !== undefined) {
      this.#release(accepted);
      if (!this.#admit(accepted, client)) return;
    }
    this.#options.serve(socket, client ?? proxy);
  }
}

/** What a trusted proxy begins with. */
type Opening =
  { readonly kind: 'malformed' } | { readonly kind: 'begun'; readonly address: string | undefined };

function findHeader(bytes: Buffer): FirstBytes<Opening> | number {
  const header: ProxyHeader = parseProxyHeader(bytes);
  switch (header.kind) {
    case 'need':
      return header.bytes;
    case 'malformed':
      return { taken: 0, value: header };
    case 'none':
      return { taken: 0, value: { kind: 'begun', address: undefined } };
    case 'header':
      return { taken: header.length, value: { kind: 'begun', address: header.address } };
  }
}
