import { TimeSlices } from '../../shared/runtime/time-slices.ts';

/** Work in short steps: whoever has it done decides whether anything else gets its turn in between. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Does it all, with nothing in between. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does it in slices, so that requests get their turn in between. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  const slices = new TimeSlices();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await slices.pause();
  }
}
