import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';

import { fieldBlock, statusOf, type Fields } from './field-block.ts';

/** Types of frames (RFC 9113, section 6). */
export const DATA = 0;
export const HEADERS = 1;
export const PRIORITY = 2;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;

/** Flags of frames. */
export const END_STREAM = 1;
export const END_HEADERS = 4;
const ACK = 1;

/** Error codes (RFC 9113, section 7). */
export const NO_ERROR = 0;
export const PROTOCOL_ERROR = 1;
export const CANCEL = 8;

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const HEAD_BYTES = 9;
const MAX_PAYLOAD = 16 * 1024;

/** A frame as received. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** The fields of an ordinary request. */
export const GET_FIELDS: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'app.test'],
  [':path', '/x'],
];

/** The same with the method POST. */
export const POST_FIELDS: Fields = [[':method', 'POST'], ...GET_FIELDS.slice(1)];

/** A client of HTTP/2 that sends exactly the given frames, and acknowledges only settings. */
export class FrameClient implements AsyncDisposable {
  readonly socket: TLSSocket;
  readonly frames: Frame[] = [];
  /** Settles when the connection is closed. */
  readonly closed: Promise<void>;
  #rest = Buffer.alloc(0);
  #isClosed = false;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** Connects to a port, or on a connection that has not begun, and sends the preface with these settings. */
  static async connect(
    target: number | Socket,
    settings: readonly (readonly [id: number, value: number])[] = [],
  ): Promise<FrameClient> {
    const client = await FrameClient.connectSilently(target);
    client.socket.write(PREFACE);
    const payload = Buffer.alloc(6 * settings.length);
    for (const [index, [id, value]] of settings.entries()) {
      payload.writeUInt16BE(id, 6 * index);
      payload.writeUInt32BE(value, 6 * index + 2);
    }
    client.send(SETTINGS, 0, 0, payload);
    return client;
  }

  /** Connects, and sends nothing. */
  static async connectSilently(target: number | Socket): Promise<FrameClient> {
    const socket = connect({
      ...(typeof target === 'number' ? { port: target, host: '127.0.0.1' } : { socket: target }),
      ALPNProtocols: ['h2'],
      servername: 'app.test',
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    return new FrameClient(socket);
  }

  send(type: number, flags: number, stream: number, payload: Buffer | string = ''): void {
    this.socket.write(frame(type, flags, stream, payload));
  }

  /** Opens a stream, or sends trailers. */
  headers(stream: number, fields: Fields, flags: number = END_STREAM): void {
    const block = fieldBlock(fields);
    if (block.length <= MAX_PAYLOAD) {
      this.send(HEADERS, END_HEADERS | flags, stream, block);
      return;
    }
    this.send(HEADERS, flags, stream, block.subarray(0, MAX_PAYLOAD));
    this.send(CONTINUATION, END_HEADERS, stream, block.subarray(MAX_PAYLOAD));
  }

  reset(stream: number, code: number): void {
    this.send(RST_STREAM, 0, stream, uint32(code));
  }

  /** Waits for a frame; rejects if the connection is closed before. */
  async receives(isWanted: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(isWanted);
      if (found !== undefined) return found;
      if (this.#isClosed) throw new Error('the connection was closed');
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Returns how a stream was answered or reset: a status, or an error code. */
  async outcome(stream: number): Promise<{ readonly status?: number; readonly reset?: number }> {
    const first = await this.receives(
      (one) => one.stream === stream && (one.type === HEADERS || one.type === RST_STREAM),
    );
    return first.type === HEADERS
      ? { status: statusOf(first.payload) }
      : { reset: first.payload.readUInt32BE(0) };
  }

  /** Waits until the gateway has handled everything that was sent before. */
  async settled(): Promise<void> {
    const mark = Buffer.from('settled!');
    this.send(PING, 0, 0, mark);
    await this.receives(({ type, payload }) => type === PING && payload.equals(mark));
    this.frames.splice(0, this.frames.length, ...this.frames.filter(({ type }) => type !== PING));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }

  #receive(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) break;
      const received = {
        type: this.#rest.readUInt8(3),
        flags: this.#rest.readUInt8(4),
        stream: this.#rest.readUInt32BE(5) & 0x7f_ff_ff_ff,
        payload: this.#rest.subarray(HEAD_BYTES, end),
      };
      this.#rest = this.#rest.subarray(end);
      this.frames.push(received);
      if (received.type === SETTINGS && (received.flags & ACK) === 0) this.send(SETTINGS, ACK, 0);
    }
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Returns the bytes of a frame. */
function frame(type: number, flags: number, stream: number, payload: Buffer | string): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** Returns a number as four bytes. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
