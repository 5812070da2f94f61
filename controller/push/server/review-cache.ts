import type { TokenReview } from './token-review.ts';

const SECOND = 1000;
const LONGEST_MS = 60 * SECOND;
/** A token that is refused may be good soon: its pod was not known yet. */
const DENIAL_MS = 5 * SECOND;
const ENTRIES = 2048;

interface Entry {
  readonly review: TokenReview;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** Reviews of tokens by their hash, for a minute at most and never longer than the token is good. */
export class ReviewCache {
  /** Apart, so that strangers do not push proxies out. */
  readonly #granted = new Map<string, Entry>();
  readonly #denied = new Map<string, Entry>();

  get(hash: string, now: number): TokenReview | undefined {
    const entry = this.#granted.get(hash) ?? this.#denied.get(hash);
    return entry === undefined || entry.until <= now ? undefined : entry.review;
  }

  /** `goodMs` is for how long the token is good. */
  put(
    hash: string,
    { goodMs, review }: { readonly goodMs: number; readonly review: TokenReview },
    now: number,
  ): void {
    this.#granted.delete(hash);
    this.#denied.delete(hash);
    if (review.isAuthenticated) {
      add(this.#granted, hash, { review, until: now + Math.min(LONGEST_MS, goodMs) });
    } else {
      add(this.#denied, hash, { review, until: now + DENIAL_MS });
    }
  }
}

function add(entries: Map<string, Entry>, hash: string, entry: Entry): void {
  const [oldest] = entries.keys();
  if (entries.size >= ENTRIES && oldest !== undefined) entries.delete(oldest);
  entries.set(hash, entry);
}
