import { TokenBucket, type Rate } from '../../../shared/runtime/token-bucket.ts';

const MAX_ADDRESSES = 4096;

/** A token bucket for each of the source addresses that were used last. */
export class SourceBuckets {
  readonly #rate: Rate;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Returns whether one more request may pass from an address. `now` in milliseconds. */
  take(address: string, now: number): boolean {
    const bucket = this.#buckets.get(address) ?? new TokenBucket(this.#rate);
    this.#buckets.delete(address);
    const [oldest] = this.#buckets.size < MAX_ADDRESSES ? [] : this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
    this.#buckets.set(address, bucket);
    return bucket.take(now);
  }
}
