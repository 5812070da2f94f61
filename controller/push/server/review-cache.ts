import type { TokenReview } from './token-review.ts';

const SECOND = 1000;
const LONGEST_MS = 60 * SECOND;
/** A denial is cached shortly: the token is valid once the API server knows its pod. */
const DENIAL_MS = 5 * SECOND;
const MAX_ENTRIES = 2048;

interface Entry {
  readonly review: TokenReview;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** Caches token reviews by the hash of the token, for at most a minute or until the token expires. */
export class ReviewCache {
  /** Separate from denials, so that strangers do not displace proxies. */
  readonly #granted = new Map<string, Entry>();
  readonly #denied = new Map<string, Entry>();

  get(hash: string, now: number): TokenReview | undefined {
    const entry = this.#granted.get(hash) ?? this.#denied.get(hash);
    return entry === undefined || entry.until <= now ? undefined : entry.review;
  }

  /** `validMs`: for how long the token is valid. */
  put(
    hash: string,
    { validMs, review }: { readonly validMs: number; readonly review: TokenReview },
    now: number,
  ): void {
    this.#granted.delete(hash);
    this.#denied.delete(hash);
    if (review.isAuthenticated) {
      add(this.#granted, hash, { review, until: now + Math.min(LONGEST_MS, validMs) });
    } else {
      add(this.#denied, hash, { review, until: now + DENIAL_MS });
    }
  }
}

function add(entries: Map<string, Entry>, hash: string, entry: Entry): void {
  const [oldest] = entries.keys();
  if (entries.size >= MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
  entries.set(hash, entry);
}
