import { performance } from 'node:perf_hooks';

import type { EndedSpan, Recording } from './ended-span.ts';
import { SpanId, TraceId } from './ids.ts';
import { LocalTrace } from './local-trace.ts';
import type { Attributes, SpanKind, SpanName } from './names.ts';
import { RecordingSpan, setAll, type SpanStart } from './recording-span.ts';
import type { Span, Trace } from './trace.ts';
import type { TraceContext } from './trace-context.ts';
import type { TracingSettings } from './tracing-settings.ts';

/** Takes spans that have ended, and brings them to a collector. */
export interface SpanExporter extends AsyncDisposable {
  /** Spans that a collector has accepted, since the start of the process. */
  readonly exported: number;
  /** Spans that were lost, since the start of the process. */
  readonly dropped: number;
  add(span: EndedSpan): void;
  /** Exports by other settings from now on, without losing spans; undefined exports what is there, and stops. */
  apply(settings: TracingSettings | undefined): void;
}

/** How a trace of this process starts. */
export interface TraceStart {
  /** The trace that it continues, whose sampling decision counts. */
  readonly parent?: TraceContext | undefined;
  /** Traces that led to this one, and are not its parent. */
  readonly links?: readonly TraceContext[];
  readonly attributes?: Attributes;
  /** Milliseconds of `performance.now()`; now if absent. */
  readonly startedAt?: number | undefined;
}

/**
 * Starts the traces of a process, or continues those of others.
 *
 * One is made when the process starts. It is off until settings are applied.
 */
export class Tracer implements AsyncDisposable {
  readonly #exporter: SpanExporter;
  #settings: TracingSettings | undefined;
  #recording: Recording;

  constructor(exporter: SpanExporter) {
    this.#exporter = exporter;
    this.#recording = { maxLength: 0, add: (span) => exporter.add(span) };
  }

  /** Whether there are traces, sampled or not. */
  get isOn(): boolean {
    return this.#settings !== undefined;
  }

  /** The settings in force; undefined while tracing is off. */
  get settings(): TracingSettings | undefined {
    return this.#settings;
  }

  /** Spans that a collector has accepted. */
  get exported(): number {
    return this.#exporter.exported;
  }

  /** Spans that were lost. */
  get dropped(): number {
    return this.#exporter.dropped;
  }

  /** Traces by these settings from now on; undefined switches tracing off. */
  apply(settings: TracingSettings | undefined): void {
    this.#settings = settings;
    const maxLength = settings?.attributeValueLengthLimit ?? 0;
    this.#recording = { ...this.#recording, maxLength };
    this.#exporter.apply(settings);
  }

  /** Starts a trace, or continues one; undefined while tracing is off. Only sampled traces have a span. */
  start(name: SpanName, kind: SpanKind, options: TraceStart = {}): Trace | undefined {
    const settings = this.#settings;
    if (settings === undefined) return undefined;
    const { parent, startedAt = performance.now() } = options;
    const start = { name, kind, startedAt };
    if (!(parent?.isSampled ?? Math.random() < settings.samplingRatio)) {
      return new UnsampledTrace(start, parent, this.#recording);
    }
    const span = new RecordingSpan(start, new LocalTrace(this.#recording, parent), parent);
    if (options.links !== undefined) for (const link of options.links) span.link(link);
    if (options.attributes !== undefined) setAll(span, options.attributes);
    return span;
  }

  /** Exports what is left, for a bounded time. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#settings = undefined;
    await this.#exporter[Symbol.asyncDispose]();
  }
}

/** A trace that is not recorded. Its ids are made when something asks for them. */
class UnsampledTrace implements Trace {
  readonly #start: SpanStart;
  readonly #recording: Recording;
  #parent: TraceContext | undefined;
  #context: TraceContext | undefined;
  #span: Span | undefined;

  constructor(start: SpanStart, parent: TraceContext | undefined, recording: Recording) {
    this.#start = start;
    this.#parent = parent;
    this.#recording = recording;
  }

  get span(): Span | undefined {
    return this.#span;
  }

  get context(): TraceContext {
    if (this.#span !== undefined) return this.#span.context;
    // The parent's span stays the parent of what follows: this process has none to put between.
    this.#context ??= this.#parent ?? {
      traceId: TraceId.random().text,
      spanId: SpanId.random().text,
      isSampled: false,
    };
    return this.#context;
  }

  join(context: TraceContext): void {
    if (this.#parent !== undefined) return;
    this.#parent = context;
    this.#context = undefined;
    if (!context.isSampled) return;
    const trace = new LocalTrace(this.#recording, context);
    this.#span = new RecordingSpan(this.#start, trace, context);
  }
}
