/** What goes on until one of both sides ends it: an event stream, a WebSocket. */
export interface OpenStream {
  /**
   * It answers a request that somebody waits for: what it ends with is what it is for. The others only
   * listen.
   */
  readonly isAnswer: boolean;
  /** Ends it as soon as that does not break what is being relayed, so that the client comes again. */
  end(): void;
}

/** The streams of a process, so that they can be ended when the process is to end. */
export class OpenStreams {
  readonly #streams = new Set<OpenStream>();
  #isEnding = false;

  /** Takes a stream until it is deleted. One that begins when the others were ended is ended too. */
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

  /** Ends all of them: nobody can wait for their answers any longer. */
  endAll(): void {
    for (const stream of this.#streams) stream.end();
  }
}
