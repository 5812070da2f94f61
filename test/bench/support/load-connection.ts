import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const BUFFER_BYTES = 64 * 1024;
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i;

/** What happens to the requests of a connection. */
export interface LoadListener {
  /** Every response must be a 200 with a body of this many bytes. */
  readonly responseBytes: number;
  /** A response is complete; the connection is free again. */
  readonly onResponse: (connection: LoadConnection) => void;
  readonly onFailure: (error: Error) => void;
}

/** Where a connection leads. */
export interface LoadTarget {
  readonly port: number;
  /** Whether the server ends TLS. Its certificate is not checked. */
  readonly isTls?: boolean;
}

/**
 * A keep-alive connection to a measured server, with one request in flight. It does no more than count the
 * bytes of responses, so that the load costs less than what it measures.
 */
export class LoadConnection implements Disposable {
  readonly #socket: Socket;
  readonly #listener: LoadListener;
  /** Bytes of the body that are still to come; undefined before the head. */
  #missing: number | undefined;

  private constructor({ port, isTls = false }: LoadTarget, listener: LoadListener) {
    this.#listener = listener;
    const onread = {
      buffer: Buffer.allocUnsafe(BUFFER_BYTES),
      callback: (length: number, buffer: Uint8Array): boolean => {
        // The same buffer as above.
        this.#receive(length, buffer as Buffer);
        return true;
      },
    };
    const target = { host: '127.0.0.1', port, noDelay: true };
    if (isTls) {
      this.#socket = connectTls({ ...target, servername: 'localhost', rejectUnauthorized: false });
      this.#socket.on('data', (bytes: Buffer) => this.#receive(bytes.length, bytes));
    } else {
      this.#socket = connect({ ...target, onread });
    }
    this.#socket.on('error', listener.onFailure);
    this.#socket.on('end', () => listener.onFailure(new Error('a measured connection was closed')));
  }

  /** Connects to a port of this machine. */
  static async open(target: LoadTarget, listener: LoadListener): Promise<LoadConnection> {
    const connection = new LoadConnection(target, listener);
    await once(connection.#socket, target.isTls === true ? 'secureConnect' : 'connect');
    return connection;
  }

  /** Sends a complete request. */
  send(request: Buffer): void {
    this.#socket.write(request);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #receive(length: number, buffer: Buffer): void {
    if (this.#missing === undefined) this.#receiveHead(buffer.toString('latin1', 0, length));
    else this.#missing -= length;
    if (this.#missing !== 0) return;
    this.#missing = undefined;
    this.#listener.onResponse(this);
  }

  #receiveHead(text: string): void {
    const { responseBytes, onFailure } = this.#listener;
    const bodyAt = text.indexOf(HEAD_END) + HEAD_END.length;
    const [, length] = LENGTH.exec(text) ?? [];
    this.#missing = responseBytes - (text.length - bodyAt);
    if (text.startsWith('HTTP/1.1 200 ') && Number(length) === responseBytes) return;
    onFailure(new Error(`a measured request was answered: ${text}`));
  }
}
