import { Buffer } from 'node:buffer';
import { writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

import { errorCode } from '../runtime/error-code.ts';
import type { LineSink } from './line-writer.ts';

const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 256;

/** How long the end of the process may wait for a reader. */
const END_MS = 1_000;
const END_RETRY_MS = 5;

const NOTHING = Buffer.alloc(0);
const FULL = 'EAGAIN';

/**
 * Writes to a file descriptor, and never waits for its reader, except at the end of the process.
 *
 * The stream `process.stdout` would keep whatever a reader of a pipe does not take, without a bound, and loses
 * it when the process ends. A descriptor that does not block says when it is full; it is then tried again and
 * again. So it is after an error: a disk that is full, or a reader that is gone, must not end what does not need it.
 */
export class DescriptorSink implements LineSink {
  readonly #descriptor: number;
  readonly #onFailure: (error: unknown) => void;
  #hasFailed = false;
  #rest: Buffer = NOTHING;
  #retryMs = FIRST_RETRY_MS;

  /** `onFailure` is called when writing begins to fail. */
  constructor(descriptor: number, onFailure: (error: unknown) => void) {
    this.#descriptor = descriptor;
    this.#onFailure = onFailure;
  }

  get waiting(): number {
    return this.#rest.length;
  }

  write(text: string): boolean {
    this.#rest = Buffer.from(text);
    return this.#isDone();
  }

  whenReady(resume: () => void): void {
    const before = this.#rest.length;
    const retry = (): void => {
      if (this.#isDone()) {
        this.#retryMs = FIRST_RETRY_MS;
        resume();
        return;
      }
      const isRead = this.#rest.length < before;
      this.#retryMs = isRead ? FIRST_RETRY_MS : Math.min(this.#retryMs * 2, LAST_RETRY_MS);
      this.whenReady(resume);
    };
    // The end of the process writes what is left.
    setTimeout(retry, this.#retryMs).unref();
  }

  end(text: string): void {
    this.#rest = Buffer.concat([this.#rest, Buffer.from(text)]);
    const deadline = performance.now() + END_MS;
    while (!this.#isDone() && !this.#hasFailed && performance.now() < deadline) {
      Atomics.wait(SLEEP, 0, 0, END_RETRY_MS);
    }
  }

  /** Writes what can be written without waiting. Returns whether nothing is left. */
  #isDone(): boolean {
    try {
      while (this.#rest.length > 0) {
        this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest));
      }
    } catch (error) {
      if (errorCode(error) !== FULL) this.#fail(error);
      return false;
    }
    this.#hasFailed = false;
    return true;
  }

  #fail(error: unknown): void {
    if (!this.#hasFailed) this.#onFailure(error);
    this.#hasFailed = true;
  }
}

const SLEEP = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
