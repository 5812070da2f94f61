const FLUSH_LENGTH = 64 * 1024;

/** How much may wait for a slow reader, in characters: some 8,000 lines. */
const MAX_WAITING = 4 * 1024 * 1024;

/** How much more the lines of the audit log may wait, so that they are the last that are dropped. */
const MAX_WAITING_AUDIT = 1024 * 1024;

/** `audit`: lines that are dropped last. */
export type LineRank = 'ordinary' | 'audit';

/** Number of lines that were dropped. */
export interface DroppedLines {
  readonly ordinary: number;
  readonly audit: number;
}

/** Destination of lines: stdout in production. */
export interface LineSink {
  /** Takes a text. Returns `false` if it takes no more until it has called the function of `whenReady`. */
  write(text: string): unknown;
  /** Calls a function once more can be written. Present if `write` can return `false`. */
  whenReady?(resume: () => void): void;
  /** Length of what it took and has not written yet. Absent: 0. */
  readonly waiting?: number;
  /** Writes what it took and this text before the process ends. Absent: `write` does. */
  end?(text: string): void;
}

/**
 * Collects log lines, and writes them together once per turn of the event loop: a write costs more than making
 * a line.
 *
 * While the reader is slow, lines wait, up to a bound. Beyond it whole lines are dropped and counted, and a line
 * says how many when there is room again.
 */
export class LineWriter {
  readonly #sink: LineSink;
  #pending = '';
  #isWaiting = false;
  #dropped: Record<LineRank, number> = { ordinary: 0, audit: 0 };
  #reported: DroppedLines = { ordinary: 0, audit: 0 };

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  /** Lines that were dropped since the start, because their reader was too slow. */
  get dropped(): DroppedLines {
    return this.#dropped;
  }

  /** Writes a line, which ends with a line break. */
  write(line: string, rank: LineRank = 'ordinary'): void {
    if (this.#isWaiting) {
      this.#wait(line, rank);
      return;
    }
    if (this.#pending === '') setImmediate(this.#flush);
    this.#pending += line;
    if (this.#pending.length > FLUSH_LENGTH) this.flush();
  }

  /** Writes the collected lines now, unless earlier ones wait for their reader. */
  flush(): void {
    if (this.#pending === '' || this.#isWaiting) return;
    const text = this.#pending;
    this.#pending = '';
    if (this.#sink.write(text) !== false) return;
    this.#isWaiting = true;
    this.#sink.whenReady?.(this.#resume);
  }

  /** Writes the collected lines at the end of the process, if their reader takes them in time. */
  end(): void {
    const text = this.#pending + this.#report();
    this.#pending = '';
    if (this.#sink.end !== undefined) this.#sink.end(text);
    else if (text !== '') this.#sink.write(text);
  }

  readonly #flush = (): void => this.flush();

  readonly #resume = (): void => {
    this.#isWaiting = false;
    this.#pending += this.#report();
    this.flush();
  };

  #wait(line: string, rank: LineRank): void {
    const limit = rank === 'audit' ? MAX_WAITING + MAX_WAITING_AUDIT : MAX_WAITING;
    const { waiting = 0 } = this.#sink;
    if (waiting + this.#pending.length + line.length < limit) this.#pending += line;
    else this.#dropped[rank] += 1;
  }

  /** Returns the line that says what was dropped since the last one; empty if nothing was. */
  #report(): string {
    const ordinary = this.#dropped.ordinary - this.#reported.ordinary;
    const audit = this.#dropped.audit - this.#reported.audit;
    if (ordinary + audit === 0) return '';
    this.#reported = { ...this.#dropped };
    const frame = { level: 'warn', service: 'log', time: new Date().toISOString() };
    const line = { ...frame, message: 'log lines dropped', dropped: ordinary + audit, audit };
    return `${JSON.stringify(line)}\n`;
  }
}
