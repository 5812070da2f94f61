import type { Logger } from '../../shared/telemetry/logger.ts';

/**
 * Keeps a bug that shows at one resource away from the statuses of all others.
 *
 * An assessment changes no state, so one that throws loses nothing, unlike the handler of a change
 * (`FailStop`). The resource keeps the status that it has, and is assessed again whenever something
 * about it changes.
 */
export class AssessmentGuard {
  readonly #logger: Logger;
  /** Keys whose last assessment threw. */
  readonly #failing = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Assesses a resource. Undefined if that throws, which is logged once until it succeeds again. */
  assess<Result>(key: string, assessment: () => Result): Result | undefined {
    try {
      const result = assessment();
      this.#failing.delete(key);
      return result;
    } catch (error) {
      const isLogged = this.#failing.has(key);
      this.#failing.add(key);
      if (!isLogged) this.#logger.error('cannot assess a resource', { resource: key }, error);
      return undefined;
    }
  }
}
