/** A configuration with at most this share of the previous routes is held back. */
const SUSPICIOUS_SHARE = 0.1;
/** A drop by at least this many routes, and this share of them, may start a mass deletion. */
const MANY = 10;
const MANY_SHARE = 0.1;
/** The drop is measured from the highest number of routes in this time. */
const WINDOW_MS = 5000;
/** A mass deletion is complete when the number of routes has not changed for this time. */
const PAUSE_MS = 1000;

/** Whether a configuration is published. */
export type Judgement =
  | { readonly kind: 'publish' }
  /** More deletions may follow: judge again at the next change, and after `waitMs` at the latest. */
  | { readonly kind: 'gather'; readonly waitMs: number }
  /** Held back: judge again after `waitMs`. There were `before` routes. */
  | { readonly kind: 'hold'; readonly waitMs: number; readonly before: number };

/** A time in which many routes are missing; all times are in monotonic milliseconds. */
interface MassDeletion {
  readonly first: number;
  /** When the delay began. */
  readonly since: number;
  /** Number of routes left. */
  readonly count: number;
  /** When that number last changed. */
  readonly changedAt: number;
}

/** Numbers of routes at a time. */
export interface RouteCounts {
  /** Routes that serve. */
  readonly before: number;
  /** Routes to be published. */
  readonly after: number;
  /** Monotonic milliseconds. */
  readonly now: number;
}

/**
 * Holds back a configuration that lost nearly all of its routes: a definition that was deleted and
 * created again, or a namespace deleted by mistake, empties the table without an error.
 *
 * Publishes it once it has lasted for the delay. Mass deletions and restores take seconds, so while
 * many routes are missing the guard waits until the number settles. The first few deletions pass
 * at once. The number left is compared with the highest number during the delay, so that deletions in
 * small steps are caught too.
 */
export class DeletionGuard {
  readonly #delayMs: number;
  /** Numbers of routes that served recently, and until when. */
  #served: readonly { readonly count: number; readonly at: number }[] = [];
  /** When a mass deletion was last published. */
  #acceptedAt = -Infinity;
  /** The mass deletion in progress, if there is one. */
  #deletion: MassDeletion | undefined;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** Decides whether a configuration with these numbers of routes is published. */
  judge(counts: RouteCounts): Judgement {
    const { after, now } = counts;
    this.#keep(counts);
    const before = this.#mostSince(this.#begin(now) - this.#delayMs);
    const isSuspicious = after < before && after <= before * SUSPICIOUS_SHARE;
    if (!isSuspicious && !this.#areManyMissing(counts)) {
      this.#deletion = undefined;
      return { kind: 'publish' };
    }
    const { since, changedAt } = this.#track(after, now);
    const end = since + this.#delayMs;
    const waitMs = (isSuspicious ? end : Math.min(end, changedAt + PAUSE_MS)) - now;
    if (waitMs > 0) {
      return isSuspicious ? { kind: 'hold', waitMs, before } : { kind: 'gather', waitMs };
    }
    this.#deletion = undefined;
    this.#acceptedAt = now;
    if (isSuspicious) this.#served = [];
    return { kind: 'publish' };
  }

  /** When the mass deletion under way began: older numbers count for as long as it lasts. */
  #begin(now: number): number {
    return this.#deletion?.since ?? now;
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
    const late = Math.max(before, this.#mostSince(Math.max(recently, this.#acceptedAt + 1)));
    return late - after >= Math.max(MANY, late * MANY_SHARE);
  }

  /** Restarts the delay when routes come back, but within limits: anyone may keep adding routes. */
  #track(count: number, now: number): MassDeletion {
    const known = this.#deletion;
    const first = known?.first ?? now;
    const isUnchanged = known?.count === count;
    const isGrowing = known !== undefined && count > known.count;
    this.#deletion = {
      first,
      since: isGrowing ? Math.min(now, first + this.#delayMs) : (known?.since ?? now),
      count,
      changedAt: isUnchanged ? known.changedAt : now,
    };
    return this.#deletion;
  }
}
