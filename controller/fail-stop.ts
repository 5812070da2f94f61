import type { Logger } from '../shared/telemetry/logger.ts';

/**
 * Runs handlers of changes until one throws. The state then lacks a change, which later changes cannot
 * repair, so no further handler runs.
 */
export class FailStop {
  readonly #logger: Logger;
  readonly #onFailure: () => void;
  readonly #failure = Promise.withResolvers<never>();
  #hasFailed = false;

  constructor({ logger, onFailure }: { readonly logger: Logger; readonly onFailure: () => void }) {
    this.#logger = logger;
    this.#onFailure = onFailure;
    // Without this, a failure that nobody awaits yet would end the process.
    this.#failure.promise.catch(() => undefined);
  }

  /** Rejects with the error of the handler that threw. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** Runs a handler, unless an earlier one threw. */
  run(handler: () => void): void {
    if (this.#hasFailed) return;
    try {
      handler();
    } catch (error) {
      this.#hasFailed = true;
      this.#logger.error('cannot handle a change', {}, error);
      this.#onFailure();
      this.#failure.reject(error);
    }
  }
}
