const FLUSH_BYTES = 64 * 1024;

/** Destination of lines: stdout in production. */
export interface LineSink {
  write(text: string): unknown;
}

/**
 * Collects log lines, and writes them together once per turn of the event loop.
 *
 * A write to a pipe is synchronous in Node, and costs more than making a line.
 */
export class LineWriter {
  readonly #sink: LineSink;
  #pending = '';

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  /** Writes a line, given without a line break. */
  write(line: string): void {
    if (this.#pending === '') setImmediate(() => this.flush());
    this.#pending += `${line}\n`;
    if (this.#pending.length > FLUSH_BYTES) this.flush();
  }

  /** Writes the collected lines now. */
  flush(): void {
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    this.#sink.write(text);
  }
}
