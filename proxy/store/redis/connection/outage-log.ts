import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { needsOperator } from './redis-failure.ts';

/** Logs an outage of Redis once, not for every command or attempt. */
export class OutageLog {
  readonly #logger: Logger;
  /** Configured addresses. */
  readonly #addresses: string;
  #logged: string | undefined;

  constructor(logger: Logger, addresses: string) {
    this.#logger = logger;
    this.#addresses = addresses;
  }

  /** Logs that Redis was lost, or that an attempt to reach it failed. */
  unreachable(reason: string): void {
    // A wrong password may show when the server is back, long after the first record.
    const isNews = this.#logged === undefined || (needsOperator(reason) && reason !== this.#logged);
    if (!isNews) return;
    this.#logged = reason;
    this.#logger.warn('redis unreachable', { redis: this.#addresses, reason });
  }

  /** Logs that Redis is usable. */
  reachable(): void {
    this.#logged = undefined;
    this.#logger.info('redis reachable', { redis: this.#addresses });
  }
}
