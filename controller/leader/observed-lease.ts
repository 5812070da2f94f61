import { isDeepStrictEqual } from 'node:util';

import { durationMsOf, epochOf, holderOf, PUSH_ADDRESS_ANNOTATION, type Lease } from './lease.ts';

/**
 * A Lease as it was seen from here, and since when it has not changed.
 *
 * Only the time here counts: the times in the Lease are by another machine's clock.
 */
export class ObservedLease {
  readonly #fallbackMs: number;
  #lease: Lease | undefined;
  #holder = '';
  #expiresAt = 0;
  #highestEpoch = 0;

  /** `fallbackMs` is how long a Lease holds that does not say so itself. */
  constructor(fallbackMs: number) {
    this.#fallbackMs = fallbackMs;
  }

  /** The Lease when it was last looked at; undefined: there was none. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Of every Lease that was seen. One that is deleted and made again forgets its own. */
  get highestEpoch(): number {
    return this.#highestEpoch;
  }

  /**
   * Notes what the Lease is; undefined: it does not exist. Who held a Lease that is deleted has yet
   * to notice it, and keeps its time.
   */
  see(lease: Lease | undefined, now: number): void {
    const isUnchanged = isDeepStrictEqual(lease?.spec, this.#lease?.spec);
    const durationMs = this.#durationMs(lease ?? this.#lease);
    this.#lease = lease;
    if (lease !== undefined) {
      this.#highestEpoch = Math.max(this.#highestEpoch, epochOf(lease));
      this.#holder = holderOf(lease);
    }
    if (!isUnchanged) this.#expiresAt = now + durationMs;
  }

  /** Milliseconds until `identity` may take it. */
  heldForMs(identity: string, now: number): number {
    if (this.#holder === '' || this.#holder === identity) return 0;
    return Math.max(0, this.#expiresAt - now);
  }

  /** Where the holder takes proxies; undefined when it does not say, or holds it no longer. */
  pushAddress(now: number): string | undefined {
    if (this.#lease === undefined || this.#holder === '' || now >= this.#expiresAt)
      return undefined;
    return this.#lease.metadata.annotations?.[PUSH_ADDRESS_ANNOTATION];
  }

  #durationMs(lease: Lease | undefined): number {
    return (lease === undefined ? undefined : durationMsOf(lease)) ?? this.#fallbackMs;
  }
}
