/** A stream that lasts until one side ends it: an event stream, a WebSocket. */
export interface OpenStream {
  /**
   * The stream answers a call, so that the client waits for its end. Other streams only listen.
   */
  readonly isAnswer: boolean;
  /** Ends the stream as soon as that breaks no message, so that the client reconnects. */
  end(): void;
}

/** The streams of a process, so that they can be ended when the process is to end. */
export class OpenStreams {
  readonly #streams = new Set<OpenStream>();
  #isEnding = false;

  /** Adds a stream until it is deleted; ends it if the streams that only listen were ended. */
  add(stream: OpenStream): void {
    this.#streams.add(stream);
    if (this.#isEnding && !stream.isAnswer) stream.end();
  }

  delete(stream: OpenStream): void {
    this.#streams.delete(stream);
  }

  /** Ends the streams that only listen, and those that begin from now on. */
  endListeners(): void {
    this.#isEnding = true;
    for (const stream of this.#streams) if (!stream.isAnswer) stream.end();
  }

  /** Ends all streams. */
  endAll(): void {
    for (const stream of this.#streams) stream.end();
  }
}
