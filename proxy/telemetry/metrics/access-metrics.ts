import type { Counter } from '../../../shared/telemetry/metrics/counter.ts';
import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import type { RateLimitStore } from '../../store/rate-limit-store.ts';
import { AUDIT_EVENTS, type AuditEvent } from '../audit-log.ts';

const RENEWALS: readonly RenewalOutcome[] = ['renewed', 'ended', 'failed'];

/** How a renewal ended: `ended` if the user must sign in again, `failed` if nothing could be decided. */
export type RenewalOutcome = 'renewed' | 'ended' | 'failed';

/** The metrics of who is let in or out: sign-ins, sessions, tokens and limits. */
export class AccessMetrics {
  readonly #events: Counter<'event'>;
  readonly #renewals: Counter<'outcome'>;
  readonly #limits: Counter<'limit'>;

  constructor(registry: MetricsRegistry) {
    this.#events = registry.counter({
      name: 'gatehouse_audit_events_total',
      help: 'Events of the audit log by their names: sign-ins, tokens that were issued, refreshed or replayed, consents, connections.',
      labels: ['event'],
    });
    // From 0, so that the first replay is an increase.
    for (const event of AUDIT_EVENTS) this.#events.cell({ event });
    this.#renewals = registry.counter({
      name: 'gatehouse_session_renewals_total',
      help: 'Renewals of expired sessions at identity providers. `outcome` is `renewed`, `ended` where the user must sign in again, or `failed` where the provider or the store could not be used.',
      labels: ['outcome'],
    });
    for (const outcome of RENEWALS) this.#renewals.cell({ outcome });
    this.#limits = registry.counter({
      name: 'gatehouse_rate_limited_total',
      help: 'Requests that were refused because a limit of a network or user was reached, by the name of the limit.',
      labels: ['limit'],
    });
  }

  countEvent(event: AuditEvent): void {
    this.#events.add({ event });
  }

  countRenewal(outcome: RenewalOutcome): void {
    this.#renewals.add({ outcome });
  }

  /** Returns rate limits that count what they refuse. Keys begin with the name of a limit and a colon. */
  countingLimits(limits: RateLimitStore): RateLimitStore {
    return {
      countUse: async (key, rate) => {
        const secondsToWait = await limits.countUse(key, rate);
        if (secondsToWait > 0) this.#limits.add({ limit: key.replace(/:.*/s, '') });
        return secondsToWait;
      },
    };
  }
}
