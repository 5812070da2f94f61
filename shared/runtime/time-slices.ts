import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 8;

/** Cuts long work into slices, so that everything else gets its turn in between. */
export class TimeSlices {
  #begun = performance.now();

  /** Ends the slice when it has taken long enough. */
  async pause(): Promise<void> {
    if (performance.now() - this.#begun < SLICE_MS) return;
    await nextTurn();
    this.#begun = performance.now();
  }
}
