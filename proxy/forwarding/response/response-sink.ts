import { Buffer } from 'node:buffer';

import type { RawFields } from './response-headers.ts';

/** Receives the body of an upstream's response. */
export interface ResponseSink {
  write(chunk: Buffer): void;
  end(trailers: RawFields): void;
  /** The upstream broke off. */
  fail(error: Error): void;
}

/**
 * Keeps the body that arrives while a response is being planned. The upstream is paused meanwhile, so
 * this is at most what its connection had received before.
 */
export class HeldResponse implements ResponseSink {
  readonly #chunks: Buffer[] = [];
  #trailers: RawFields | undefined;
  #failure: Error | undefined;

  /** Why the response is incomplete; undefined if it is not. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  write(chunk: Buffer): void {
    // Whoever resumes the upstream does not wait until the chunks have left.
    this.#chunks.push(Buffer.from(chunk));
  }

  end(trailers: RawFields): void {
    this.#trailers = trailers;
  }

  fail(error: Error): void {
    this.#failure = error;
  }

  /** Passes the kept chunks on. */
  flowInto(sink: ResponseSink): void {
    for (const chunk of this.#chunks) sink.write(chunk);
    if (this.#trailers !== undefined) sink.end(this.#trailers);
  }
}
