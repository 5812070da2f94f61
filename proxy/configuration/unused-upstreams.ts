import type { UpstreamPools } from '../forwarding/targets/upstream-pools.ts';
import { UpstreamUse } from '../forwarding/targets/upstream-use.ts';
import { TimeSlices } from '../../shared/runtime/time-slices.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { ResourceChange } from './snapshot-changes.ts';

/** Closes connections to upstreams that the snapshot does not name any more, soon after it serves. */
export class UnusedUpstreams {
  readonly #pools: UpstreamPools;
  readonly #logger: Logger;
  readonly #use = new UpstreamUse();
  #following: Promise<void> = Promise.resolve();
  /** Snapshots whose changes are not counted yet. */
  #behind = 0;

  constructor(pools: UpstreamPools, logger: Logger) {
    this.#pools = pools;
    this.#logger = logger;
  }

  /** Takes the changes of a snapshot that serves now. Returns at once, and never fails. */
  follow(changes: readonly ResourceChange[]): void {
    this.#behind += 1;
    this.#following = this.#following.then(() => this.#follow(changes));
  }

  async #follow(changes: readonly ResourceChange[]): Promise<void> {
    const slices = new TimeSlices();
    for (const { before, after } of changes) {
      this.#use.replace(before?.value, after?.value);
      await slices.pause();
    }
    this.#behind -= 1;
    // A snapshot that is not counted yet may name what no other does.
    if (this.#behind > 0) return;
    this.#pools.retain(this.#use).catch((error: unknown) => {
      this.#logger.error('closing unused upstream connections failed', {}, error);
    });
  }
}
