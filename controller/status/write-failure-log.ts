import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';

type Fields = Readonly<Record<string, string>>;

const INTERVAL_MS = 30_000;

/** Logs failed writes. If the API server is down every write fails, so that is logged at intervals. */
export class WriteFailureLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  #retryLoggedAt: number | undefined;
  #isForbidden = false;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Records that a write succeeded. */
  succeeded(): void {
    this.#isForbidden = false;
  }

  refused(fields: Fields, error: unknown): void {
    this.#logger.error('API server refused a status', fields, error);
  }

  forbidden(fields: Fields, error: unknown): void {
    if (!this.#isForbidden) this.#logger.error('not allowed to write status', fields, error);
    this.#isForbidden = true;
  }

  retried(fields: Fields, error: unknown): void {
    const now = this.#clock.now();
    if (this.#retryLoggedAt !== undefined && now < this.#retryLoggedAt + INTERVAL_MS) return;
    this.#retryLoggedAt = now;
    this.#logger.warn('cannot write status, retrying', fields, error);
  }
}
