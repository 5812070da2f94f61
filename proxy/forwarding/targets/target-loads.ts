import type { Target, TargetChoice } from './target.ts';
import { mixRanks } from './rank.ts';

const SECOND = 1_000;

/** How long an endpoint that took no connection gets no requests. */
const AVOID_MS = 5 * SECOND;

/** What this process knows of the endpoints of all Services, from its own requests. */
export class TargetLoads {
  readonly #now: () => number;
  readonly #random: () => number;
  /** Number of requests under way, by origin; no entry is none. */
  readonly #underWay = new Map<string, number>();
  /** Until when an origin is avoided. */
  readonly #avoided = new Map<string, number>();

  /** `now` in milliseconds, from any start; `random` in [0, 1). */
  constructor({
    now = () => performance.now(),
    random = Math.random,
  }: { readonly now?: () => number; readonly random?: () => number } = {}) {
    this.#now = now;
    this.#random = random;
  }

  /**
   * Chooses an endpoint, and counts a request for it: of two at random the one with fewer requests
   * under way; of a caller that has one, its own. Those that took no connection lately are left out,
   * unless it is all of them. Undefined when there is none.
   */
  enter({ targets: endpoints, callerRank }: TargetChoice): Target | undefined {
    const open = this.#withoutAvoided(endpoints);
    const chosen =
      callerRank === undefined ? this.#lessLoaded(open) : highestRank(open, callerRank);
    if (chosen !== undefined) {
      this.#underWay.set(chosen.origin, this.#requestsAt(chosen) + 1);
    }
    return chosen;
  }

  /** Counts a request as over. */
  leave({ origin }: Target): void {
    const others = (this.#underWay.get(origin) ?? 0) - 1;
    if (others > 0) this.#underWay.set(origin, others);
    else this.#underWay.delete(origin);
  }

  /** Keeps requests away from an endpoint for a while. */
  avoid({ origin }: Target): void {
    this.#avoided.set(origin, this.#now() + AVOID_MS);
  }

  #withoutAvoided(endpoints: readonly Target[]): readonly Target[] {
    if (this.#avoided.size === 0) return endpoints;
    const now = this.#now();
    for (const [origin, until] of this.#avoided) if (until <= now) this.#avoided.delete(origin);
    const open = endpoints.filter(({ origin }) => !this.#avoided.has(origin));
    return open.length === 0 ? endpoints : open;
  }

  /** Two at random are nearly as good as the best of all, and never all proxies choose the same. */
  #lessLoaded(endpoints: readonly Target[]): Target | undefined {
    const at = Math.floor(this.#random() * endpoints.length);
    const first = endpoints[at];
    if (first === undefined || endpoints.length === 1) return first;
    const step = 1 + Math.floor(this.#random() * (endpoints.length - 1));
    const second = endpoints[(at + step) % endpoints.length];
    if (second === undefined) return first;
    return this.#requestsAt(second) < this.#requestsAt(first) ? second : first;
  }

  #requestsAt({ origin }: Target): number {
    return this.#underWay.get(origin) ?? 0;
  }
}

/** Rendezvous hashing: an endpoint that comes or goes moves none but the callers it wins or had. */
function highestRank(endpoints: readonly Target[], callerRank: number): Target | undefined {
  let best: Target | undefined;
  let highest = -1;
  for (const endpoint of endpoints) {
    const rank = mixRanks(callerRank, endpoint.rank);
    if (rank > highest) [best, highest] = [endpoint, rank];
  }
  return best;
}
