import type { Logger } from '../../logger.ts';

/** A collector that fails in more ways than this is away, and not worth more lines. */
const MAX_CAUSES = 5;

/**
 * Says in the log when exports begin to fail or spans to be lost, and when that is over: one line each, however
 * long it lasts. Another cause gets another line.
 */
export class ExportLog {
  readonly #logger: Logger;
  readonly #causes = new Set<string>();
  #lost = 0;
  #dropped = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Spans that were lost since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether the last export failed. */
  get isFailing(): boolean {
    return this.#causes.size > 0;
  }

  failed(cause: string, endpoint: string): void {
    if (this.#causes.has(cause) || this.#causes.size === MAX_CAUSES) return;
    this.#causes.add(cause);
    this.#logger.warn('spans cannot be exported', { endpoint, cause });
  }

  drop(count: number, why: string): void {
    if (this.#lost === 0) this.#logger.warn('spans are dropped', { why });
    this.#lost += count;
    this.#dropped += count;
  }

  succeeded(): void {
    if (!this.isFailing) return;
    this.#causes.clear();
    this.#logger.info('spans are exported again');
  }

  /** There is room again, and the collector takes spans. */
  recovered(): void {
    if (this.#lost === 0) return;
    this.#logger.info('spans are no longer dropped', { dropped: this.#lost });
    this.#lost = 0;
  }
}
