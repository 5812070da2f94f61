import type { AttributeList } from '../ended-span.ts';
import type { AttributeValue } from '../names.ts';

/** Of the spans that differ from their template, one in so many becomes the template. */
const REPLACED = 64;

/** A part of the attributes as it was written. */
interface Run {
  /** Index after its last attribute. */
  readonly end: number;
  readonly written: Uint8Array;
}

/**
 * The attributes of one span of a kind, as they were written.
 *
 * The spans of a kind have mostly the same attributes, in the same order, and nearly all values are those of the span
 * before. What is the same is copied in runs: that costs a fraction of looking up each attribute.
 */
export class SpanTemplate {
  #names: readonly string[] = [];
  #values: readonly AttributeValue[] = [];
  #written: Uint8Array = new Uint8Array();
  /** Where attributes begin in what was written, and where the last one ends. */
  #starts: readonly number[] = [];
  /** The last run from each attribute on: it mostly ends where it did before. */
  #runs: (Run | undefined)[] = [];
  #differing = 0;

  /** Returns the attributes from an index on that are the same as here, as they were written; undefined if none is. */
  runFrom(index: number, { names, values }: AttributeList): Run | undefined {
    let end = index;
    while (
      end < names.length &&
      names[end] === this.#names[end] &&
      values[end] === this.#values[end]
    ) {
      end += 1;
    }
    if (end === index) return undefined;
    const last = this.#runs[index];
    return last?.end === end ? last : this.#cut(index, end);
  }

  /** Whether a span that differs should become the template. */
  wantsOther(): boolean {
    this.#differing = (this.#differing + 1) % REPLACED;
    return this.#differing === 0;
  }

  /** Takes other attributes: as they are written, and where each begins and the last one ends. */
  replace({ names, values }: AttributeList, written: Uint8Array, starts: readonly number[]): void {
    this.#names = [...names];
    this.#values = [...values];
    this.#written = written;
    this.#starts = starts;
    this.#runs = names.map(() => undefined);
  }

  #cut(index: number, end: number): Run {
    const written = this.#written.subarray(this.#starts[index], this.#starts[end]);
    const run = { end, written };
    this.#runs[index] = run;
    return run;
  }
}
