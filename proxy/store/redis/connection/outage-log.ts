import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { needsOperator } from './redis-failure.ts';

/** Logs that Redis cannot be reached once for an outage, not once for a command or an attempt. */
export class OutageLog {
  readonly #logger: Logger;
  /** Where Redis is meant to be. */
  readonly #places: string;
  #logged: string | undefined;

  constructor(logger: Logger, places: string) {
    this.#logger = logger;
    this.#places = places;
  }

  /** Redis was lost, or could not be reached once more. */
  goesOn(reason: string): void {
    // A wrong password may come to light when the server is back, long after the first record.
    const isNews = this.#logged === undefined || (needsOperator(reason) && reason !== this.#logged);
    if (!isNews) return;
    this.#logged = reason;
    this.#logger.warn('redis unreachable', { redis: this.#places, reason });
  }

  /** Redis can be used. */
  ended(): void {
    this.#logged = undefined;
    this.#logger.info('redis reachable', { redis: this.#places });
  }
}
