import { isRouteKey, isServiceKey } from '../../shared/snapshot/resource-key.ts';
import type { CompiledResource, SnapshotResource } from '../../shared/snapshot/snapshot.ts';

/** What waits to be published, and what is. */
export interface WaitingChange {
  readonly put: ReadonlyMap<string, SnapshotResource>;
  readonly deleted: ReadonlySet<string>;
  readonly published: ReadonlyMap<string, SnapshotResource>;
}

/**
 * The routes and Services that can be published although deletions wait.
 *
 * A Service waits with them when it has a port less: a route that serves on meanwhile may need it.
 * A route waits with them when it asks for the host and port of one that serves on meanwhile: of one
 * whose deletion waits, or that is itself to be replaced by a route that waits. All routes wait while
 * anything else does: they may have been compiled with it.
 */
export function untouchedPuts(change: WaitingChange): readonly SnapshotResource[] {
  const { put, deleted } = change;
  const hasOthers = [...put.keys(), ...deleted].some(
    (key) => !isRouteKey(key) && !isServiceKey(key),
  );
  const touched = hasOthers ? undefined : touchedRoutes(change);
  return [...put.values()].filter(
    ({ key, value }) =>
      (isServiceKey(key) && keepsPorts(value, change.published.get(key)?.value)) ||
      (isRouteKey(key) && touched !== undefined && !touched.has(key)),
  );
}

function touchedRoutes({ put, deleted, published }: WaitingChange): ReadonlySet<string> {
  const asking = Map.groupBy(put.values(), ({ value }) => addressOf(value));
  const touched = new Set<string>();
  const staying = [...deleted];
  // It grows on the way.
  for (const key of staying) {
    const address = addressOf(published.get(key)?.value);
    if (address === undefined) continue;
    for (const { key: other } of asking.get(address) ?? []) {
      if (!touched.has(other)) staying.push(other);
      touched.add(other);
    }
    // Each is looked at once.
    asking.delete(address);
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
