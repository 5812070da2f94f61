import { configurationSteps } from '../../proxy/configuration/build-configuration.ts';
import type { Configuration } from '../../proxy/configuration/configuration.ts';
import { changesBetween, type ResourceChange } from '../../proxy/configuration/snapshot-changes.ts';
import { atOnce } from '../../proxy/configuration/steps.ts';
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
