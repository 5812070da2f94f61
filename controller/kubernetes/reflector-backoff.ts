import { KubernetesApiError } from './kubernetes-api.ts';
import type { ReflectorTimes } from './reflector-times.ts';

const SECOND = 1000;

/** The longest wait that a server, or a proxy in front of it, may ask for. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** Counts failed attempts in a row, and decides how long to wait after each. */
export class ReflectorBackoff {
  readonly #times: Pick<ReflectorTimes, 'shortestBackoffMs' | 'longestBackoffMs'>;
  #failures = 0;

  constructor(times: Pick<ReflectorTimes, 'shortestBackoffMs' | 'longestBackoffMs'>) {
    this.#times = times;
  }

  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }

  /**
   * Records a failure. Returns how long to wait: up to twice as long each time, with a random part, so
   * that reflectors that failed together do not retry together.
   */
  fail(error: unknown): number {
    const { shortestBackoffMs, longestBackoffMs } = this.#times;
    const longest = Math.min(shortestBackoffMs * 2 ** this.#failures, longestBackoffMs);
    this.#failures += 1;
    const backoffMs = longest * (0.5 + Math.random() / 2);
    const requested = error instanceof KubernetesApiError ? (error.retryAfter ?? 0) : 0;
    return Math.max(backoffMs, Math.min(requested, LONGEST_RETRY_AFTER_SECONDS) * SECOND);
  }
}
