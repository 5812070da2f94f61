import type { CompiledTracing } from '../../../snapshot/compiled-tracing.ts';
import type { Logger } from '../../logger.ts';
import type { Tracer } from '../tracer.ts';
import { resolveTracing } from './resolve-tracing.ts';

/** Parts of the tracing of a process. */
export interface ProcessTracingParts {
  readonly tracer: Tracer;
  /** What the environment of the process says, which wins. */
  readonly environment: CompiledTracing;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * The tracing of a process: its tracer, with the settings that are in force.
 *
 * It is off until settings are applied. Disposing of it exports what is left.
 */
export class ProcessTracing implements AsyncDisposable {
  readonly tracer: Tracer;
  readonly #environment: CompiledTracing;
  readonly #logger: Pick<Logger, 'error'>;
  /** What was applied, as JSON; undefined before the first time. */
  #applied: string | undefined;

  constructor({ tracer, environment, logger }: ProcessTracingParts) {
    this.tracer = tracer;
    this.#environment = environment;
    this.#logger = logger;
  }

  /** Traces by these settings from now on, and by what the environment says. Most changes are none to tracing. */
  apply(settings: CompiledTracing | undefined): void {
    const said = { ...settings, ...this.#environment };
    const text = JSON.stringify(said);
    if (text === this.#applied) return;
    this.#applied = text;
    if (said.exporter === 'otlp' && said.endpoint === undefined) {
      const problem =
        'the exporter otlp needs an endpoint: set OTEL_EXPORTER_OTLP_ENDPOINT, or spec.tracing.endpoint of the GatewaySettings';
      this.#logger.error('tracing is off', { problem });
    }
    this.tracer.apply(resolveTracing(settings, this.#environment));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tracer[Symbol.asyncDispose]();
  }
}
