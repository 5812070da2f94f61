import {
  isCertificateKey,
  isHeldHostKey,
  isRouteKey,
  isServiceKey,
} from '../../shared/snapshot/resource-key.ts';
import type { CompiledResource, SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../compile/change-set.ts';

/** Returns the resource that is published under a key. */
export type FindPublished = (key: string) => SnapshotResource | undefined;

/**
 * Returns the routes, Services and certificates of a change set that can be published before its deletions.
 *
 * A certificate never waits: whatever names it serves better with the new one. A Service that loses a port waits: a route that still serves may need that port. A route waits when
 * its host and port belong to a published route that waits to be deleted, or to be replaced. All
 * routes wait while anything else does, because they may have been compiled with it.
 *
 * Held hosts wait, because what serves them until then is still published. So does each route that would
 * leave a held host to a wildcard: one that leaves the host or a wildcard, or comes to a wildcard.
 */
export function untouchedPuts(
  waiting: ChangeSet,
  published: FindPublished,
): readonly SnapshotResource[] {
  const keys = [...waiting.put.map(({ key }) => key), ...waiting.deleted];
  const touched = keys.some(isOther) ? undefined : touchedRoutes(waiting, published);
  return waiting.put.filter(
    ({ key, value }) =>
      isCertificateKey(key) ||
      (isServiceKey(key) && keepsPorts(value, published(key)?.value)) ||
      (isRouteKey(key) && touched !== undefined && !touched.has(key)),
  );
}

function isOther(key: string): boolean {
  return ![isRouteKey, isServiceKey, isHeldHostKey, isCertificateKey].some((is) => is(key));
}

function touchedRoutes({ put, deleted }: ChangeSet, published: FindPublished): ReadonlySet<string> {
  const claimants = Map.groupBy(put, ({ value }) => addressOf(value));
  const touched = new Set(waitingWithHolds(put, published));
  const staying = [...deleted, ...touched];
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

/** Returns the keys of the routes that may leave a held host to a wildcard. */
function waitingWithHolds(
  put: readonly SnapshotResource[],
  published: FindPublished,
): readonly string[] {
  const held = new Set(put.flatMap(({ value }) => (value.kind === 'held-host' ? value.host : [])));
  if (held.size === 0) return [];
  return put.flatMap(({ key, value }) => {
    const [before, after] = [hostOf(published(key)?.value), hostOf(value)];
    const isAffected = isWildcard(before) || isWildcard(after) || held.has(before);
    return isAffected && isRouteKey(key) ? key : [];
  });
}

function keepsPorts(value: CompiledResource, before: CompiledResource | undefined): boolean {
  if (value.kind !== 'service' || before?.kind !== 'service') return true;
  const ports = new Set(value.ports.map(({ port }) => port));
  return before.ports.every(({ port }) => ports.has(port));
}

function addressOf(value: CompiledResource | undefined): string | undefined {
  return value?.kind === 'route' ? `${value.host}:${String(value.port)}` : undefined;
}

/** The host of a route; empty for anything else. */
function hostOf(value: CompiledResource | undefined): string {
  return value?.kind === 'route' ? value.host : '';
}

function isWildcard(host: string): boolean {
  return host.startsWith('*.');
}
