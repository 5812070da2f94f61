import type { Snapshot, SnapshotResource } from '../../shared/snapshot/snapshot.ts';

/** A resource that is not the same in two snapshots; absent where it is not in one of them. */
export interface ResourceChange {
  readonly before: SnapshotResource | undefined;
  readonly after: SnapshotResource | undefined;
}

/** What makes one snapshot of another. */
export interface SnapshotDifference {
  /** Undefined: the changes are all of the second. */
  readonly since: Snapshot | undefined;
  readonly changes: readonly ResourceChange[];
}

/** The changes since `before`: the known ones where they are since that, else all of both is compared. */
export function changesSince(
  before: Snapshot | undefined,
  after: Snapshot,
  known: SnapshotDifference | undefined,
): readonly ResourceChange[] {
  if (known !== undefined && known.since === before) return known.changes;
  return changesBetween(before, after);
}

/** What differs between two snapshots. All of the second where there is no first. */
export function changesBetween(
  before: Snapshot | undefined,
  after: Snapshot,
): readonly ResourceChange[] {
  const changes: ResourceChange[] = [];
  let kept = 0;
  for (const [key, resource] of after.resources) {
    const known = before?.resources.get(key);
    if (known !== undefined) kept += 1;
    // Mostly the same object: only then does a snapshot cost what changed.
    if (known === resource || known?.hash === resource.hash) continue;
    changes.push({ before: known, after: resource });
  }
  if (before === undefined || before.resources.size === kept) return changes;
  for (const [key, resource] of before.resources) {
    if (!after.resources.has(key)) changes.push({ before: resource, after: undefined });
  }
  return changes;
}
