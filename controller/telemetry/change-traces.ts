import type { Attributes } from '../../shared/telemetry/tracing/names.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { Tracer } from '../../shared/telemetry/tracing/tracer.ts';

/**
 * The traces of changes: from the first event of the watch until they are published. A batch of changes is one
 * trace. Batches that wait for the same reference are one trace too, because they are published together.
 */
export class ChangeTraces {
  readonly #tracer: Tracer | undefined;
  #current: Trace | undefined;

  constructor(tracer: Tracer | undefined) {
    this.#tracer = tracer;
  }

  /** The trace of the changes that are compiled and not published yet. */
  get current(): Trace | undefined {
    return this.#current;
  }

  /** Begins a trace, unless there is one. `startedAt` is when the first change was seen. */
  begin(name: 'change' | 'leadership', attributes: Attributes, startedAt?: number): void {
    this.#current ??= this.#tracer?.start(name, 'internal', {
      attributes,
      ...(startedAt !== undefined && { startedAt }),
    });
  }

  /** Runs a compilation in a span of its own. */
  compile<Result>(compile: () => Result): Result {
    const span = this.#current?.span?.child('compile', 'internal');
    try {
      return compile();
    } catch (error) {
      span?.recordError(error);
      throw error;
    } finally {
      span?.end();
    }
  }

  /** Ends the trace. Spans of deliveries and statuses may still begin below it. */
  end(): void {
    this.#current?.span?.end();
    this.#current = undefined;
  }
}
