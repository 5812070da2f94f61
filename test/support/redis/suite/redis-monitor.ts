import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { finished } from 'node:stream/promises';

import type { TestRedis } from '../start-redis.ts';

/**
 * Writes every command that a Redis runs to a file, with all its arguments: those that scripts run
 * and messages that are published too. Only a login is left out, by Redis itself.
 */
export class RedisMonitor {
  readonly #redis: TestRedis;
  readonly #socket: Socket;
  readonly #written: Promise<void>;
  #tail = '';
  #endMark: string | undefined;

  private constructor(redis: TestRedis, socket: Socket, file: string) {
    this.#redis = redis;
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => this.#seeEnd(text));
    const output = createWriteStream(file, 'latin1');
    this.#written = finished(socket.pipe(output));
  }

  /** Resolves when nothing escapes it any more. */
  static async start(redis: TestRedis, password: string, file: string): Promise<RedisMonitor> {
    const socket = connect(redis.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`AUTH ${password}\r\nMONITOR\r\n`);
    const monitor = new RedisMonitor(redis, socket, file);
    const mark = randomUUID();
    // The first command that it sees proves that it watches.
    while (!monitor.#tail.includes(mark)) await redis.send('ECHO', mark);
    return monitor;
  }

  /** Ends it, once everything that was sent before is in the file. Throws when Redis left it. */
  async stop(): Promise<void> {
    if (this.#socket.closed) throw new Error('Redis closed the connection that watches it');
    this.#endMark = randomUUID();
    await this.#redis.send('ECHO', this.#endMark);
    await this.#written;
  }

  #seeEnd(text: string): void {
    this.#tail = (this.#tail + text).slice(-1024);
    if (this.#endMark !== undefined && this.#tail.includes(this.#endMark)) this.#socket.end();
  }
}
