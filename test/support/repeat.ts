import { setTimeout as wait } from 'node:timers/promises';

const PAUSE_MS = 20;

/** Work that is repeated until `stop`. */
export interface Loop<Result> extends AsyncDisposable {
  /** Ends the loop after one more repetition, and returns the results. */
  stop(): Promise<readonly Result[]>;
}

/** Repeats work, with a short pause after each time. */
export function repeat<Result>(work: () => Promise<Result>): Loop<Result> {
  const results: Result[] = [];
  let isStopped = false;
  const loop = async (): Promise<void> => {
    // The last repetition begins after `stop`, so that it meets the state of that moment.
    for (let isLast = false; !isLast;) {
      isLast = isStopped;
      results.push(await work());
      await wait(PAUSE_MS);
    }
  };
  const done = loop();
  const stop = async (): Promise<readonly Result[]> => {
    isStopped = true;
    await done;
    return results;
  };
  return {
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}
