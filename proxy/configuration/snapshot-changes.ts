import type { Snapshot, SnapshotResource } from '../../shared/snapshot/snapshot.ts';

/** A resource that differs between two snapshots; undefined where a snapshot does not have it. */
export interface ResourceChange {
  readonly before: SnapshotResource | undefined;
  readonly after: SnapshotResource | undefined;
}

/** The difference between two snapshots. */
export interface SnapshotDifference {
  /** The first snapshot; undefined if the changes are the whole second one. */
  readonly since: Snapshot | undefined;
  readonly changes: readonly ResourceChange[];
}

/** Returns the changes since `before`: the known ones if they begin there, else by comparing. */
export function changesSince(
  before: Snapshot | undefined,
  after: Snapshot,
  known: SnapshotDifference | undefined,
): readonly ResourceChange[] {
  if (known !== undefined && known.since === before) return known.changes;
  return changesBetween(before, after);
}

/** Compares two snapshots; without a first one, all of the second has changed. */
export function changesBetween(
  before: Snapshot | undefined,
  after: Snapshot,
): readonly ResourceChange[] {
  const changes: ResourceChange[] = [];
  let kept = 0;
  for (const [key, resource] of after.resources) {
    const known = before?.resources.get(key);
    if (known !== undefined) kept += 1;
    // Unchanged resources are mostly the same object, which makes this cheap.
    if (known === resource || known?.hash === resource.hash) continue;
    changes.push({ before: known, after: resource });
  }
  if (before === undefined || before.resources.size === kept) return changes;
  for (const [key, resource] of before.resources) {
    if (!after.resources.has(key)) changes.push({ before: resource, after: undefined });
  }
  return changes;
}
