import { isDeepStrictEqual } from 'node:util';

import { durationMsOf, epochOf, holderOf, PUSH_ADDRESS_ANNOTATION, type Lease } from './lease.ts';

/**
 * The newest version of a Lease that this process has seen, and when it expires.
 *
 * Measures with the clock of this process: the times in the Lease are from another machine's clock.
 */
export class ObservedLease {
  readonly #fallbackMs: number;
  #lease: Lease | undefined;
  #holder = '';
  #expiresAt = 0;
  #highestEpoch = 0;

  /** `fallbackMs`: the duration of a Lease that does not specify one. */
  constructor(fallbackMs: number) {
    this.#fallbackMs = fallbackMs;
  }

  /** The Lease as it was last read; undefined: it did not exist. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** The highest epoch of all versions seen: a Lease that is deleted and created again loses its own. */
  get highestEpoch(): number {
    return this.#highestEpoch;
  }

  /**
   * Records the newest version; undefined: the Lease does not exist. The holder of a deleted Lease
   * keeps its time, because it has yet to notice the deletion.
   */
  observe(lease: Lease | undefined, now: number): void {
    const isUnchanged = isDeepStrictEqual(lease?.spec, this.#lease?.spec);
    const durationMs = this.#durationMs(lease ?? this.#lease);
    this.#lease = lease;
    if (lease !== undefined) {
      this.#highestEpoch = Math.max(this.#highestEpoch, epochOf(lease));
      this.#holder = holderOf(lease);
    }
    if (!isUnchanged) this.#expiresAt = now + durationMs;
  }

  /** Milliseconds until `identity` may acquire the Lease. */
  heldForMs(identity: string, now: number): number {
    if (this.#holder === '' || this.#holder === identity) return 0;
    return Math.max(0, this.#expiresAt - now);
  }

  /** The address for proxies that the holder announces; undefined without one, or once it expired. */
  pushAddress(now: number): string | undefined {
    if (this.#lease === undefined || this.#holder === '' || now >= this.#expiresAt)
      return undefined;
    return this.#lease.metadata.annotations?.[PUSH_ADDRESS_ANNOTATION];
  }

  #durationMs(lease: Lease | undefined): number {
    return (lease === undefined ? undefined : durationMsOf(lease)) ?? this.#fallbackMs;
  }
}
