import type { EndedSpan } from '../ended-span.ts';
import { encodeSpan } from './encode-span.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { UnixClock } from './unix-clock.ts';

/** Spans that are exported together, as entries of `ScopeSpans.spans`. */
export interface SpanBatch {
  readonly spans: Buffer;
  readonly count: number;
}

/** A batch never gets much larger: collectors refuse messages of more than 4 MiB by default. */
const MAX_BATCH_BYTES = 1024 * 1024;

/**
 * Spans that wait for their export, in the bytes of the export: that takes a tenth of the memory of objects, is
 * counted exactly, and holds on to nothing of the requests.
 */
export class SpanBatches {
  readonly #maxBytes: number;
  readonly #clock = new UnixClock();
  readonly #writer = new ProtobufWriter();
  readonly #full: SpanBatch[] = [];
  #open = 0;
  #closedBytes = 0;

  /** Holds at most about so many bytes, together with the batches that were taken. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Spans of the batch that is not full yet. */
  get open(): number {
    return this.#open;
  }

  /** Batches that are to be exported. */
  get full(): number {
    return this.#full.length;
  }

  /** Bytes that are held, together with the batches that were taken. */
  get bytes(): number {
    return this.#closedBytes + this.#writer.length;
  }

  /** Whether less than half of the room is taken. */
  get isHalfEmpty(): boolean {
    return this.bytes * 2 < this.#maxBytes;
  }

  /** Adds a span, and returns whether there was room for it. */
  add(span: EndedSpan, maxBatchSize: number): boolean {
    if (this.bytes >= this.#maxBytes) return false;
    encodeSpan(this.#writer, span, this.#clock.origin(span.endedAt));
    this.#open += 1;
    if (this.#open >= maxBatchSize || this.#writer.length >= MAX_BATCH_BYTES) this.close();
    return true;
  }

  /** Makes a batch of the spans that are there, even if it is not full. */
  close(): void {
    if (this.#open === 0) return;
    const batch = { spans: this.#writer.take(), count: this.#open };
    this.#open = 0;
    this.#full.push(batch);
    this.#closedBytes += batch.spans.length;
  }

  /** Takes the oldest batch. It counts as held until it is released or returned. */
  take(): SpanBatch | undefined {
    return this.#full.shift();
  }

  /** Puts back a batch that was taken and could not be exported. */
  putBack(batch: SpanBatch): void {
    this.#full.unshift(batch);
  }

  /** Forgets a batch that was taken. */
  release(batch: SpanBatch): void {
    this.#closedBytes -= batch.spans.length;
  }
}
