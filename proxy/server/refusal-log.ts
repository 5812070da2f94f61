import type { Logger } from '../../shared/telemetry/logger.ts';
import type { ConnectionRefusal } from './connection-counter.ts';

const INTERVAL_MS = 60_000;

/** Logs refused connections, for each reason at most once a minute: refusing must stay cheap. */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #now: () => number;
  /** By reason. */
  readonly #pending = new Map<string, { loggedAt: number; refused: number }>();

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(logger: Logger, now: () => number) {
    this.#logger = logger;
    this.#now = now;
  }

  /** `ip`: address or network of the client, where the operator lists it for the authorization log. */
  record(reason: ConnectionRefusal['reason'], ip: string | undefined): void {
    const now = this.#now();
    const entry = this.#pending.get(reason) ?? { loggedAt: -Infinity, refused: 0 };
    this.#pending.set(reason, entry);
    entry.refused += 1;
    if (now - entry.loggedAt < INTERVAL_MS) return;
    this.#logger.warn('connections refused', { reason, ip, refused: entry.refused });
    entry.loggedAt = now;
    entry.refused = 0;
  }
}
