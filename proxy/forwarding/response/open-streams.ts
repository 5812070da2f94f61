/** A stream of server-sent events, or a WebSocket. */
export type StreamKind = 'events' | 'websocket';

/** A stream that lasts until one side ends it: an event stream, a WebSocket. */
export interface OpenStream {
  readonly kind: StreamKind;
  /** Whether the stream answers a call, so that the client waits for its end. Others only listen. */
  readonly answersCall: boolean;
  /**
   * Ends the stream at the end of the current message, so that the client reconnects. With `mayWait`, a stream that
   * should bring a message before its end waits for it.
   */
  end(mayWait?: boolean): void;
}

/** The open streams of a process, so that they can be ended before the process. */
export class OpenStreams {
  readonly #streams = new Set<OpenStream>();
  /** Undefined until the streams that only listen are ended. */
  #patienceMs: number | undefined;

  /** Adds a stream until it is deleted; ends it if the streams that only listen were ended. */
  add(stream: OpenStream): void {
    this.#streams.add(stream);
    if (this.#patienceMs !== undefined) this.#endListenOnly(stream, this.#patienceMs);
  }

  delete(stream: OpenStream): void {
    this.#streams.delete(stream);
  }

  /** Returns the number of open streams of each kind. */
  count(): Readonly<Record<StreamKind, number>> {
    const counts = { events: 0, websocket: 0 };
    for (const { kind } of this.#streams) counts[kind] += 1;
    return counts;
  }

  /**
   * Ends the streams that only listen, and those that begin from now on. One that should bring a message before its
   * end may take `patienceMs` for that.
   */
  endListenOnly(patienceMs: number): void {
    this.#patienceMs = patienceMs;
    for (const stream of this.#streams) this.#endListenOnly(stream, patienceMs);
  }

  /** Ends all streams. */
  endAll(): void {
    for (const stream of this.#streams) stream.end();
  }

  #endListenOnly(stream: OpenStream, patienceMs: number): void {
    if (stream.answersCall) return;
    stream.end(patienceMs > 0);
    setTimeout(() => {
      if (this.#streams.has(stream)) stream.end();
    }, patienceMs).unref();
  }
}
