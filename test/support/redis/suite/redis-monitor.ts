import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { finished } from 'node:stream/promises';

import type { TestRedis } from '../start-redis.ts';

/**
 * Writes every command that a Redis runs to a file, with all its arguments, including those of
 * scripts and published messages. Redis itself leaves out logins.
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

  /** Resolves when every further command will be recorded. */
  static async start(redis: TestRedis, password: string, file: string): Promise<RedisMonitor> {
    const socket = connect(redis.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`AUTH ${password}\r\nMONITOR\r\n`);
    const monitor = new RedisMonitor(redis, socket, file);
    const mark = randomUUID();
    // The first recorded command proves that the recording works.
    while (!monitor.#tail.includes(mark)) await redis.send('ECHO', mark);
    return monitor;
  }

  /** Ends the recording, once every earlier command is in the file. Throws if Redis disconnected. */
  async stop(): Promise<void> {
    if (this.#socket.closed) throw new Error('Redis closed the connection of the monitor');
    this.#endMark = randomUUID();
    await this.#redis.send('ECHO', this.#endMark);
    await this.#written;
  }

  #seeEnd(text: string): void {
    this.#tail = (this.#tail + text).slice(-1024);
    if (this.#endMark !== undefined && this.#tail.includes(this.#endMark)) this.#socket.end();
  }
}
