import type { Socket } from 'node:net';

import { openBufferedSocket } from '../support/buffered-socket.ts';
import { EventReader } from './event-reader.ts';

const BUFFER_BYTES = 64 * 1024;
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
    const index = this.#last.push(0) - 1;
    const reader = new EventReader((number) => this.#count(index, number));
    const socket = await openBufferedSocket(port, this.#buffer, (part) =>
      reader.read(part.toString('latin1')),
    );
    socket.on('close', () => this.#done.reject(new Error('a stream was closed')));
    this.#sockets.push(socket);
    socket.write(request);
    await reader.head;
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
