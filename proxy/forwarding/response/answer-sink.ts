import type { RawFields } from './response-headers.ts';

/** What takes the body of an upstream's answer. */
export interface AnswerSink {
  write(chunk: Buffer): void;
  end(trailers: RawFields): void;
  /** The upstream broke off. */
  fail(error: Error): void;
}

/**
 * Keeps what arrives of an answer while it is being planned. The upstream is paused meanwhile, so
 * this is no more than what its connection had received already.
 */
export class HeldAnswer implements AnswerSink {
  readonly #chunks: Buffer[] = [];
  #trailers: RawFields | undefined;
  #failure: Error | undefined;

  /** Why the answer is not whole. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(trailers: RawFields): void {
    this.#trailers = trailers;
  }

  fail(error: Error): void {
    this.#failure = error;
  }

  /** Passes on what was kept. */
  flowInto(sink: AnswerSink): void {
    for (const chunk of this.#chunks) sink.write(chunk);
    if (this.#trailers !== undefined) sink.end(this.#trailers);
  }
}
