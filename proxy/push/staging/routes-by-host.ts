import type { Snapshot, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { ResourceChange } from '../../configuration/snapshot-changes.ts';

/**
 * Keys of the routes that serve, by host: what comes need not be compared with all of them. Put
 * together when it is first asked for, and then kept up to date.
 */
export class RoutesByHost {
  #snapshot: Snapshot | undefined;
  #keysOf: Map<string, Set<string>> | undefined;

  constructor(snapshot: Snapshot | undefined) {
    this.#snapshot = snapshot;
  }

  /** Those of a host, with any port. */
  at(host: string): ReadonlySet<string> {
    this.#keysOf ??= keysByHost(this.#snapshot?.resources.values() ?? []);
    return this.#keysOf.get(host) ?? NONE;
  }

  /** Goes on to what serves now. */
  follow(snapshot: Snapshot, changes: readonly ResourceChange[]): void {
    this.#snapshot = snapshot;
    // Where all is new, it may never be asked for.
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
