import { isRouteKey, isServiceKey } from '../../shared/snapshot/resource-key.ts';
import type { CompiledResource, SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../compile/change-set.ts';

/** Returns the resource that is published under a key. */
export type FindPublished = (key: string) => SnapshotResource | undefined;

/**
 * Returns the routes and Services of a change set that can be published before its deletions.
 *
 * A Service that loses a port waits: a route that still serves may need that port. A route waits when
 * its host and port belong to a published route that waits to be deleted, or to be replaced. All
 * routes wait while anything else does, because they may have been compiled with it.
 */
export function untouchedPuts(
  waiting: ChangeSet,
  published: FindPublished,
): readonly SnapshotResource[] {
  const keys = [...waiting.put.map(({ key }) => key), ...waiting.deleted];
  const hasOthers = keys.some((key) => !isRouteKey(key) && !isServiceKey(key));
  const touched = hasOthers ? undefined : touchedRoutes(waiting, published);
  return waiting.put.filter(
    ({ key, value }) =>
      (isServiceKey(key) && keepsPorts(value, published(key)?.value)) ||
      (isRouteKey(key) && touched !== undefined && !touched.has(key)),
  );
}

function touchedRoutes({ put, deleted }: ChangeSet, published: FindPublished): ReadonlySet<string> {
  const claimants = Map.groupBy(put, ({ value }) => addressOf(value));
  const touched = new Set<string>();
  const staying = [...deleted];
  // The loop appends to the array that it iterates over.
  for (const key of staying) {
    const address = addressOf(published(key)?.value);
    if (address === undefined) continue;
    for (const { key: claimant } of claimants.get(address) ?? []) {
      if (!touched.has(claimant)) staying.push(claimant);
      touched.add(claimant);
    }
    claimants.delete(address);
  }
  return touched;
}

function keepsPorts(value: CompiledResource, before: CompiledResource | undefined): boolean {
  if (value.kind !== 'service' || before?.kind !== 'service') return true;
  const ports = new Set(value.ports.map(({ port }) => port));
  return before.ports.every(({ port }) => ports.has(port));
}

function addressOf(value: CompiledResource | undefined): string | undefined {
  return value?.kind === 'route' ? `${value.host}:${String(value.port)}` : undefined;
}
