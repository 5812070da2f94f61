import type { Clock } from '../../shared/runtime/clock.ts';
import { PacedChanges } from '../../shared/runtime/paced-changes.ts';
import type { UpstreamAuthReport } from '../../shared/snapshot/push-frames.ts';
import { routeKey } from '../../shared/snapshot/resource-key.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import type { UpstreamAuthState } from './publication.ts';

/** More than a gateway has. Routes beyond that have no state. */
const MAX_ROUTES = 20_000;

/** Options of an UpstreamAuthBook. */
export interface UpstreamAuthBookOptions {
  readonly changes: Pick<ChangeNotifier, 'add'>;
  readonly clock: Clock;
  /** The shortest time between two changes of one route. */
  readonly intervalMs: number;
  /** Milliseconds since 1970. */
  readonly wallTime: () => number;
}

/** What the proxies of a leadership found out about upstreams: the newest of each route counts. */
export class UpstreamAuthBook implements Disposable {
  readonly #options: UpstreamAuthBookOptions;
  /** Times of the newest reports, which may not be shown yet. */
  readonly #newest = new Map<string, number>();
  readonly #states: PacedChanges<UpstreamAuthState>;

  constructor(options: UpstreamAuthBookOptions) {
    this.#options = options;
    const { clock, intervalMs, changes } = options;
    this.#states = new PacedChanges({
      clock,
      intervalMs,
      isSame: ({ failure: one }, { failure: other }) =>
        one?.reason === other?.reason && one?.message === other?.message,
      onChange: (key) => changes.add([key]),
    });
  }

  /** The state of a route, by its key in the snapshot; undefined if no proxy reported any. */
  stateOf(key: string): UpstreamAuthState | undefined {
    return this.#states.get(key);
  }

  /** Records what a proxy reported. It may arrive before the first publication. */
  receive(reports: readonly UpstreamAuthReport[]): void {
    for (const { route, ageMs, failure } of reports) {
      const key = routeKey(route);
      const newest = this.#newest.get(key);
      const at = this.#options.wallTime() - ageMs;
      if (newest === undefined ? this.#newest.size >= MAX_ROUTES : at <= newest) continue;
      this.#newest.set(key, at);
      this.#states.set(key, { at, ...(failure && { failure }) });
    }
  }

  /** Forgets routes, by their keys. */
  forget(keys: readonly string[]): void {
    for (const key of keys) {
      this.#newest.delete(key);
      this.#states.delete(key);
    }
  }

  /** Stops all timers. */
  [Symbol.dispose](): void {
    this.#states[Symbol.dispose]();
  }
}
