import type { UpstreamPools } from '../forwarding/targets/upstream-pools.ts';
import { UpstreamUse } from '../forwarding/targets/upstream-use.ts';
import { TimeSlices } from '../../shared/runtime/time-slices.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { ResourceChange } from './snapshot-changes.ts';

/** Closes connections to upstreams that the served snapshot does not name. */
export class UnusedUpstreams {
  readonly #pools: UpstreamPools;
  readonly #logger: Logger;
  readonly #use = new UpstreamUse();
  #counting: Promise<void> = Promise.resolve();
  /** Number of snapshots with changes that are not counted yet. */
  #uncounted = 0;

  constructor(pools: UpstreamPools, logger: Logger) {
    this.#pools = pools;
    this.#logger = logger;
  }

  /** Closes what is unused after these changes. Returns at once, and never fails. */
  closeAfter(changes: readonly ResourceChange[]): void {
    this.#uncounted += 1;
    this.#counting = this.#counting.then(() => this.#count(changes));
  }

  async #count(changes: readonly ResourceChange[]): Promise<void> {
    const slices = new TimeSlices();
    for (const { before, after } of changes) {
      this.#use.replace(before?.value, after?.value);
      await slices.pause();
    }
    this.#uncounted -= 1;
    // A snapshot that is not counted yet may name an upstream that no earlier one does.
    if (this.#uncounted > 0) return;
    this.#pools.retain(this.#use).catch((error: unknown) => {
      this.#logger.error('closing unused upstream connections failed', {}, error);
    });
  }
}
