import type { Snapshot, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { ResourceChange } from '../../configuration/snapshot-changes.ts';

/**
 * Keys of the routes that serve, by host, so that a new route is not compared with all of them.
 * Built at the first use, and kept up to date from then on.
 */
export class RoutesByHost {
  #snapshot: Snapshot | undefined;
  #keysOf: Map<string, Set<string>> | undefined;

  constructor(snapshot: Snapshot | undefined) {
    this.#snapshot = snapshot;
  }

  /** Returns the keys of a host's routes, on any port. */
  at(host: string): ReadonlySet<string> {
    this.#keysOf ??= keysByHost(this.#snapshot?.resources.values() ?? []);
    return this.#keysOf.get(host) ?? NONE;
  }

  /** Changes to the snapshot that serves now. */
  update(snapshot: Snapshot, changes: readonly ResourceChange[]): void {
    this.#snapshot = snapshot;
    // If everything changed, the next use rebuilds it; there may be no next use.
    if (changes.length >= snapshot.resources.size) this.#keysOf = undefined;
    if (this.#keysOf === undefined) return;
    for (const { before, after } of changes) {
      remove(this.#keysOf, before);
      add(this.#keysOf, after);
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function keysByHost(resources: Iterable<SnapshotResource>): Map<string, Set<string>> {
  const keysOf = new Map<string, Set<string>>();
  for (const resource of resources) add(keysOf, resource);
  return keysOf;
}

function add(keysOf: Map<string, Set<string>>, resource: SnapshotResource | undefined): void {
  if (resource?.value.kind !== 'route') return;
  const { host } = resource.value;
  const keys = keysOf.get(host) ?? new Set();
  keysOf.set(host, keys.add(resource.key));
}

function remove(keysOf: Map<string, Set<string>>, resource: SnapshotResource | undefined): void {
  if (resource?.value.kind !== 'route') return;
  const { host } = resource.value;
  const keys = keysOf.get(host);
  keys?.delete(resource.key);
  if (keys?.size === 0) keysOf.delete(host);
}
