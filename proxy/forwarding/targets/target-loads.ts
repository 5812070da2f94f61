import { performance } from 'node:perf_hooks';

import type { Target, TargetChoice } from './target.ts';
import { mixRanks } from './rank.ts';

const SECOND = 1_000;

/** How long a target that accepted no connection gets no requests. */
const AVOID_MS = 5 * SECOND;

/** Counts the current requests of this process to each target, and chooses targets by load. */
export class TargetLoads {
  readonly #now: () => number;
  readonly #random: () => number;
  /** Number of current requests by origin; origins without requests have no entry. */
  readonly #underWay = new Map<string, number>();
  /** Until when an origin is avoided. */
  readonly #avoided = new Map<string, number>();

  /** `now` in milliseconds since any time; `random` in [0, 1). */
  constructor({
    now = () => performance.now(),
    random = Math.random,
  }: { readonly now?: () => number; readonly random?: () => number } = {}) {
    this.#now = now;
    this.#random = random;
  }

  /**
   * Chooses a target, and counts a request for it: the caller's own target if there is a `callerRank`,
   * else the one of two random targets that has fewer requests. Targets that recently accepted no
   * connection are avoided, unless all are to be avoided. Undefined if there is no target.
   */
  enter({ targets, callerRank }: TargetChoice): Target | undefined {
    const open = this.#withoutAvoided(targets);
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

  /** Avoids a target for a while. */
  avoid({ origin }: Target): void {
    this.#avoided.set(origin, this.#now() + AVOID_MS);
  }

  #withoutAvoided(targets: readonly Target[]): readonly Target[] {
    if (this.#avoided.size === 0) return targets;
    const now = this.#now();
    for (const [origin, until] of this.#avoided) if (until <= now) this.#avoided.delete(origin);
    const open = targets.filter(({ origin }) => !this.#avoided.has(origin));
    return open.length === 0 ? targets : open;
  }

  /** The better of two random targets is nearly the best one, and proxies choose different ones. */
  #lessLoaded(targets: readonly Target[]): Target | undefined {
    const at = Math.floor(this.#random() * targets.length);
    const first = targets[at];
    if (first === undefined || targets.length === 1) return first;
    const step = 1 + Math.floor(this.#random() * (targets.length - 1));
    const second = targets[(at + step) % targets.length];
    if (second === undefined) return first;
    return this.#requestsAt(second) < this.#requestsAt(first) ? second : first;
  }

  #requestsAt({ origin }: Target): number {
    return this.#underWay.get(origin) ?? 0;
  }
}

/** Rendezvous hashing: an added or removed target moves only its own callers. */
function highestRank(targets: readonly Target[], callerRank: number): Target | undefined {
  let best: Target | undefined;
  let highest = -1;
  for (const target of targets) {
    const rank = mixRanks(callerRank, target.rank);
    if (rank > highest) [best, highest] = [target, rank];
  }
  return best;
}
