import { configurationSteps } from '../../proxy/configuration/configuration-steps.ts';
import type { Configuration } from '../../proxy/configuration/configuration.ts';
import { changesBetween, type ResourceChange } from '../../proxy/configuration/snapshot-changes.ts';
import type { Steps } from '../../proxy/configuration/steps.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';

/** Makes a first snapshot ready to serve from. */
export function buildConfiguration(snapshot: Snapshot): Configuration {
  return nextConfiguration(undefined, snapshot, changesBetween(undefined, snapshot));
}

/** Makes a snapshot ready to serve from, after another. */
export function nextConfiguration(
  before: Configuration | undefined,
  snapshot: Snapshot,
  changes: readonly ResourceChange[],
): Configuration {
  return atOnce(configurationSteps(before, snapshot, changes));
}

/** Runs steps without a pause between them. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
