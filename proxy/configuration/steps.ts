import { TimeSlices } from '../../shared/runtime/time-slices.ts';

/** Work in short steps; the last step returns the result. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Runs the steps in time slices, so that requests are served in between. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  const slices = new TimeSlices();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await slices.pause();
  }
}
