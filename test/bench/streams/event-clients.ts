import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { END } from './workload.ts';

const BUFFER_BYTES = 64 * 1024;
const EVENT_ID = /id: (\d+)\n/g;
/** Connections that are opened at the same time. */
const BATCH = 100;

/** Clients of open event streams, which check that each event arrives once and in order. */
export class EventClients implements Disposable {
  readonly #sockets: Socket[] = [];
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  /** Number of the last event of each stream. */
  readonly #last: number[] = [];
  /** Streams that still wait for the event with this number. */
  #missing = 0;
  #number = 0;
  #done: PromiseWithResolvers<undefined> = Promise.withResolvers();

  /** Opens a stream for each request, and waits for the heads of all responses. */
  async open(port: number, requests: readonly string[]): Promise<void> {
    for (let at = 0; at < requests.length; at += BATCH) {
      const batch = requests.slice(at, at + BATCH);
      await Promise.all(batch.map((request) => this.#openOne(port, request)));
    }
  }

  /** Resolves when every stream has got the event after the last one, which `send` causes. */
  async receive(send: (number: number) => void): Promise<void> {
    this.#number += 1;
    this.#missing = this.#sockets.length;
    this.#done = Promise.withResolvers();
    send(this.#number);
    await this.#done.promise;
  }

  /** Throws if a stream has not got exactly this number of events, in order. */
  check(events: number): void {
    const wrong = this.#last.filter((last) => last !== events).length;
    if (wrong > 0) throw new Error(`${String(wrong)} streams have lost events`);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy();
  }

  async #openOne(port: number, request: string): Promise<void> {
    const index = this.#sockets.length;
    const head = Promise.withResolvers<undefined>();
    let text = '';
    let isHead = true;
    const receive = (part: string): void => {
      text += part;
      if (isHead) {
        const end = text.indexOf('\r\n\r\n');
        if (end === -1) return;
        if (!text.startsWith('HTTP/1.1 200')) head.reject(new Error(text));
        text = text.slice(end);
        isHead = false;
        head.resolve(undefined);
      }
      const complete = text.lastIndexOf(END);
      if (complete === -1) return;
      for (const [, number] of text.slice(0, complete).matchAll(EVENT_ID)) {
        this.#count(index, Number(number));
      }
      text = text.slice(complete + END.length);
    };
    const socket = connect({
      ...{ host: '127.0.0.1', port },
      onread: {
        buffer: this.#buffer,
        callback: (length) => {
          receive(this.#buffer.toString('latin1', 0, length));
          return true;
        },
      },
    });
    socket.on('close', () => this.#done.reject(new Error('a stream was closed')));
    this.#sockets.push(socket);
    this.#last.push(0);
    await once(socket, 'connect');
    socket.write(request);
    await head.promise;
  }

  #count(index: number, number: number): void {
    if (number !== (this.#last[index] ?? 0) + 1) {
      this.#done.reject(new Error(`event ${String(number)} follows ${String(this.#last[index])}`));
    }
    this.#last[index] = number;
    this.#missing -= 1;
    if (this.#missing === 0) this.#done.resolve(undefined);
  }
}
