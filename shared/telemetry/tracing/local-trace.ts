import type { EndedSpan, Recording } from './ended-span.ts';
import { TraceId } from './ids.ts';
import type { TraceContext } from './trace-context.ts';

/** Further spans are not waited for: this is no request that joins an earlier trace. */
const MAX_WAITING = 32;

/**
 * What all spans of a trace in this process share.
 *
 * The first of them may join an earlier trace until it ends, and moves the others, so ended ones wait for it.
 */
export class LocalTrace {
  readonly #recording: Recording;
  #id: TraceId;
  #state: string | undefined;
  #isSampled = true;
  #waiting: EndedSpan[] | undefined = [];

  constructor(recording: Recording, parent?: TraceContext) {
    this.#recording = recording;
    this.#id = parent === undefined ? TraceId.random() : TraceId.parse(parent.traceId);
    this.#state = parent?.traceState;
  }

  get id(): TraceId {
    return this.#id;
  }

  /** The value of `tracestate`. */
  get state(): string | undefined {
    return this.#state;
  }

  /** False once the trace has joined one that is not sampled. */
  get isSampled(): boolean {
    return this.#isSampled;
  }

  /** Characters of a text. */
  get maxLength(): number {
    return this.#recording.maxLength;
  }

  /** Makes this a part of an earlier trace. */
  join({ traceId, traceState, isSampled }: TraceContext): void {
    this.#id = TraceId.parse(traceId);
    this.#state = traceState;
    this.#isSampled = isSampled;
  }

  /** Takes a span that has ended. The spans are recorded once the first one has. */
  add(span: EndedSpan, isFirst: boolean): void {
    if (!this.#isSampled) return;
    if (this.#waiting === undefined) {
      this.#recording.add(span);
      return;
    }
    this.#waiting.push(span);
    if (isFirst || this.#waiting.length === MAX_WAITING) this.#record(this.#waiting);
  }

  #record(spans: readonly EndedSpan[]): void {
    this.#waiting = undefined;
    for (const span of spans) this.#recording.add(span);
  }
}
