import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';

/** Changes to a set of snapshot resources. A key is in it at most once. */
export interface ChangeSet {
  /** Resources that are added, or replace others under their keys. */
  readonly put: readonly SnapshotResource[];
  /** Keys of the resources that are removed. */
  readonly deleted: readonly string[];
}

/** A change set that changes nothing. */
export const NO_CHANGES: ChangeSet = { put: [], deleted: [] };

/** Whether a change set changes nothing. */
export function isEmptyChangeSet({ put, deleted }: ChangeSet): boolean {
  return put.length === 0 && deleted.length === 0;
}

/** Returns the change set that has the effect of `first` and then `second`. */
export function mergeChangeSets(first: ChangeSet, second: ChangeSet): ChangeSet {
  if (isEmptyChangeSet(first)) return second;
  if (isEmptyChangeSet(second)) return first;
  const put = new Map(first.put.map((resource) => [resource.key, resource]));
  const deleted = new Set(first.deleted);
  for (const resource of second.put) {
    put.set(resource.key, resource);
    deleted.delete(resource.key);
  }
  for (const key of second.deleted) {
    put.delete(key);
    deleted.add(key);
  }
  return { put: [...put.values()], deleted: [...deleted] };
}
