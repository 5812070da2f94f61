import { monotonicClock, type Clock } from '../../shared/runtime/clock.ts';
import { PacedChanges } from '../../shared/runtime/paced-changes.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { UpstreamAuthOutcome, UpstreamAuthReports } from './upstream-auth-reports.ts';

const MINUTE_MS = 60_000;

/** Logs when users can connect to the upstream of a route, and when they cannot: at most once a minute each. */
export class UpstreamAuthLog implements UpstreamAuthReports, Disposable {
  readonly #logger: Logger;
  readonly #outcomes: PacedChanges<UpstreamAuthOutcome>;

  constructor(logger: Logger, clock: Clock = monotonicClock) {
    this.#logger = logger;
    this.#outcomes = new PacedChanges({
      clock,
      intervalMs: MINUTE_MS,
      isSame: (one, other) => JSON.stringify(one) === JSON.stringify(other),
      onChange: (route, outcome) => this.#log(route, outcome),
    });
  }

  report(routeName: string, outcome: UpstreamAuthOutcome): void {
    this.#outcomes.set(routeName, outcome);
  }

  [Symbol.dispose](): void {
    this.#outcomes[Symbol.dispose]();
  }

  #log(route: string, outcome: UpstreamAuthOutcome): void {
    if (outcome.kind === 'success')
      this.#logger.info('users can connect to the upstream', { route });
    else {
      const { reason, message: detail } = outcome;
      this.#logger.warn('users cannot connect to the upstream', { route, reason, detail });
    }
  }
}
