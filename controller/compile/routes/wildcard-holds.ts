import { hashResource } from '../../../shared/snapshot/hash-resource.ts';
import { heldHostKey } from '../../../shared/snapshot/resource-key.ts';
import type { SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { RouteEntry } from './route-entry.ts';
import { ServingWildcards, type ServingWildcard } from './serving-wildcards.ts';

/** Options of a `WildcardHolds`. */
export interface WildcardHoldsOptions {
  /** The only namespace that may use a host; undefined if all may. */
  readonly ownerOf: (host: string) => { readonly namespace: string } | undefined;
  /** Routes that ask for a host. */
  readonly routesOn: (host: string) => ReadonlySet<RouteEntry>;
}

/**
 * Finds the hosts that belong to a namespace, that none of its routes serves, and that a wildcard of
 * another namespace would serve. Each is a resource of the snapshot, so that proxies serve it to nobody.
 *
 * Attack: the route of a wildcard would get the users of a route that is replaced, with their cookies.
 *
 * A change of a route costs a look at its host, and a change of a wildcard one at each unserved host.
 */
export class WildcardHolds {
  readonly #options: WildcardHoldsOptions;
  readonly #wildcards = new ServingWildcards();
  /** The wildcards of routes, by name of the route. */
  readonly #wildcardOf = new Map<string, ServingWildcard>();
  /** Ports on which each unserved host is published as held. */
  readonly #unserved = new Map<string, readonly number[]>();
  #touched = new Set<string>();
  #isHolding = false;
  /** Whether every unserved host may have changed. */
  #isStale = false;

  constructor(options: WildcardHoldsOptions) {
    this.#options = options;
  }

  /** Sets whether hosts are held at all. */
  setHolding(isHolding: boolean): void {
    this.#isStale ||= isHolding !== this.#isHolding;
    this.#isHolding = isHolding;
  }

  /** Records that the owner of a host, or a route there, may have changed. */
  touch(host: string): void {
    this.#touched.add(host);
  }

  /** Records what a route serves now; without an entry, the route is gone. */
  setRoute(name: string, entry: RouteEntry | undefined): void {
    const host = entry?.serving?.host;
    if (host !== undefined) this.touch(host);
    const before = this.#wildcardOf.get(name);
    const now = entry && wildcardOf(entry);
    if (isSameWildcard(before, now)) return;
    this.#isStale = true;
    if (before !== undefined) this.#wildcards.delete(before);
    if (now === undefined) {
      this.#wildcardOf.delete(name);
    } else {
      this.#wildcards.add(now);
      this.#wildcardOf.set(name, now);
    }
  }

  /** Decides the hosts that may have changed. Returns the changed resources; undefined: removed. */
  decide(): ReadonlyMap<string, SnapshotResource | undefined> {
    const hosts = this.#isStale
      ? new Set([...this.#unserved.keys(), ...this.#touched])
      : this.#touched;
    this.#touched = new Set();
    this.#isStale = false;
    const changed = new Map<string, SnapshotResource | undefined>();
    for (const host of hosts) this.#decideHost(host, changed);
    return changed;
  }

  #decideHost(host: string, changed: Map<string, SnapshotResource | undefined>): void {
    const before = this.#unserved.get(host) ?? [];
    const owner = this.#unservedOwner(host);
    const ports = owner === undefined ? [] : this.#portsOfOthers(host, owner);
    if (owner === undefined) this.#unserved.delete(host);
    else this.#unserved.set(host, ports);
    if (String(before) === String(ports)) return;
    const key = heldHostKey(host);
    const isHeld = ports.length > 0;
    changed.set(key, isHeld ? hashResource(key, { kind: 'held-host', host, ports }) : undefined);
  }

  /** Returns the namespace that a host belongs to if none of its routes serves it. */
  #unservedOwner(host: string): string | undefined {
    const owner = this.#options.ownerOf(host);
    if (owner === undefined) return undefined;
    for (const { serving } of this.#options.routesOn(host)) {
      if (serving?.host === host) return undefined;
    }
    return owner.namespace;
  }

  /** Returns the ports on which routes of other namespaces would serve a host by a wildcard, sorted. */
  #portsOfOthers(host: string, owner: string): readonly number[] {
    if (!this.#isHolding) return [];
    const ports: number[] = [];
    for (const [port, namespaces] of this.#wildcards.above(host)) {
      if (!namespaces.has(owner) || namespaces.size > 1) ports.push(port);
    }
    return ports.sort((one, other) => one - other);
  }
}

function wildcardOf({ namespace, serving }: RouteEntry): ServingWildcard | undefined {
  const compiled = serving?.compiled;
  if (compiled?.host.startsWith('*.') !== true) return undefined;
  return { host: compiled.host, port: compiled.port, namespace };
}

function isSameWildcard(
  one: ServingWildcard | undefined,
  other: ServingWildcard | undefined,
): boolean {
  return one?.host === other?.host && one?.port === other?.port;
}
