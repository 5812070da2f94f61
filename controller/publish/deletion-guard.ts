/** A table this much smaller than before is not believed at once. */
const SUSPICIOUS_PART = 0.1;
/** So many routes fewer, and this part of them, may be the beginning of that. */
const MANY = 10;
const MANY_PART = 0.1;
/** Fewer than at any time in these milliseconds. */
const WINDOW_MS = 5000;
/** What comes in pieces is whole when nothing has come for so long. */
const PAUSE_MS = 1000;

/** What to do with a configuration. */
export type Judgement =
  | { readonly kind: 'publish' }
  /** More may be on its way: to be judged again, after `waitMs` at the latest. */
  | { readonly kind: 'gather'; readonly waitMs: number }
  /** Not before `waitMs` have passed, and only if it is still so then. */
  | { readonly kind: 'hold'; readonly waitMs: number; readonly before: number };

/** The routes that serve, and those to be published. */
export interface RouteCounts {
  readonly before: number;
  readonly after: number;
  /** Monotonic milliseconds. */
  readonly now: number;
}

/**
 * Holds back a configuration that lost nearly all of its routes at once: a definition that was
 * deleted and made again, or a namespace deleted by mistake, empties the table without a word.
 *
 * It is believed once it has stayed so for the delay. An API server deletes many routes, and people
 * bring them back, in the course of seconds: while many are missing, the table is judged when it has
 * come to rest. What goes at first, before there are many, is gone at once. What is left is compared
 * with the most that there were in the time of the delay: bit by bit is no way around it.
 */
export class DeletionGuard {
  readonly #delayMs: number;
  /** What served of late, and until when. */
  #served: readonly { readonly count: number; readonly at: number }[] = [];
  /** When it was last believed that many are gone. */
  #believedAt = -Infinity;
  /** Of many routes that are missing: since when, from when the delay counts, how many were left. */
  #missing:
    | {
        readonly first: number;
        readonly since: number;
        readonly count: number;
        readonly changedAt: number;
      }
    | undefined;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  judge(counts: RouteCounts): Judgement {
    const { after, now } = counts;
    this.#keep(counts);
    const before = this.#mostSince(this.#begin(now) - this.#delayMs);
    const isSuspicious = after < before && after <= before * SUSPICIOUS_PART;
    if (!isSuspicious && !this.#areManyMissing(counts)) {
      this.#missing = undefined;
      return { kind: 'publish' };
    }
    const { since, changedAt } = this.#watch(after, now);
    const end = since + this.#delayMs;
    const waitMs = (isSuspicious ? end : Math.min(end, changedAt + PAUSE_MS)) - now;
    if (waitMs > 0) {
      return isSuspicious ? { kind: 'hold', waitMs, before } : { kind: 'gather', waitMs };
    }
    this.#missing = undefined;
    this.#believedAt = now;
    if (isSuspicious) this.#served = [];
    return { kind: 'publish' };
  }

  /** What many are missing of is not forgotten while they are. */
  #begin(now: number): number {
    return this.#missing?.since ?? now;
  }

  #keep({ before, now }: RouteCounts): void {
    const from = this.#begin(now) - Math.max(this.#delayMs, WINDOW_MS);
    const others = this.#served.filter(({ count, at }) => at >= from && count > before);
    this.#served = [...others, { count: before, at: now }];
  }

  #mostSince(time: number): number {
    const served = this.#served.filter(({ at }) => at >= time);
    return Math.max(0, ...served.map(({ count }) => count));
  }

  #areManyMissing({ before, after, now }: RouteCounts): boolean {
    const recently = this.#begin(now) - WINDOW_MS;
    const late = Math.max(before, this.#mostSince(Math.max(recently, this.#believedAt + 1)));
    return late - after >= Math.max(MANY, late * MANY_PART);
  }

  /** Counts the delay anew when routes come back, but not for ever: anybody can add some. */
  #watch(count: number, now: number): { readonly since: number; readonly changedAt: number } {
    const known = this.#missing;
    const first = known?.first ?? now;
    const isUnchanged = known?.count === count;
    const isGrowing = known !== undefined && count > known.count;
    this.#missing = {
      first,
      since: isGrowing ? Math.min(now, first + this.#delayMs) : (known?.since ?? now),
      count,
      changedAt: isUnchanged ? known.changedAt : now,
    };
    return this.#missing;
  }
}
