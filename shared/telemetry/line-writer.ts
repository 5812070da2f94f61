const FLUSH_BYTES = 64 * 1024;

/** Where lines go: stdout in production. */
export interface LineSink {
  write(text: string): unknown;
}

/**
 * Gathers log lines and writes them together, once per turn of the event loop.
 *
 * A write to a pipe is synchronous in Node, and dearer than the line it carries.
 */
export class LineWriter {
  readonly #sink: LineSink;
  #pending = '';

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  /** `line` has no line break. */
  write(line: string): void {
    if (this.#pending === '') setImmediate(() => this.flush());
    this.#pending += `${line}\n`;
    if (this.#pending.length > FLUSH_BYTES) this.flush();
  }

  flush(): void {
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    this.#sink.write(text);
  }
}
