import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';

import type { ReadBuffer } from './read-buffer.ts';

/** The server of a pool. */
export interface ServerAddress {
  readonly isTls: boolean;
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

const KEEP_ALIVE_PROBE_MS = 60_000;

/** Opens connections to one server, and lets TLS connections continue the session of earlier ones. */
export class SocketOpener {
  readonly #address: ServerAddress;
  #session: Buffer | undefined;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /**
   * `onReady` is called before anything is read. `onRead` gets the length of what was read into the buffer;
   * if it returns false, nothing more is read until the socket is resumed.
   */
  open(buffer: ReadBuffer, onRead: (length: number) => boolean, onReady: () => void): Socket {
    const { isTls } = this.#address;
    const onread: OnReadOpts = { buffer: buffer.next, callback: onRead };
    const socket = isTls ? this.#openTls(onread) : connect({ ...this.#endpoint(), onread });
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS).setNoDelay(true);
    // What waits for a response has a connection of its own, which keeps the process alive.
    socket.unref();
    return socket.once(isTls ? 'secureConnect' : 'connect', onReady);
  }

  #endpoint(): { host: string; port: number } {
    const { host, port } = this.#address;
    return { host, port };
  }

  #openTls(onread: OnReadOpts): TLSSocket {
    const { host } = this.#address;
    // Node's types lack `onread` here.
    const options: ConnectionOptions & { readonly onread: OnReadOpts } = {
      ...this.#endpoint(),
      onread,
      ALPNProtocols: ['http/1.1'],
      // RFC 6066, section 3: addresses are not server names.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    };
    return connectTls(options).on('session', (session: Buffer) => {
      this.#session = session;
    });
  }
}
