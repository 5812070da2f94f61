import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 8;

/** Divides long work into time slices, so that other work runs between them. */
export class TimeSlices {
  #begun = performance.now();

  /** Lets other work run if the current slice has taken long enough. */
  async pause(): Promise<void> {
    if (performance.now() - this.#begun < SLICE_MS) return;
    await nextTurn();
    this.#begun = performance.now();
  }
}
