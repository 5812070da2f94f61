import { Arbiter } from './arbiter.ts';
import { HostOwners } from './host-owners.ts';
import type { RouteEntry } from './route-entry.ts';
import type { RouteIndex } from './route-index.ts';

/** The part of the settings that decides about hosts. */
export interface HostTerms {
  /** Hosts that routes of several namespaces may use. */
  readonly sharedHosts: ReadonlySet<string>;
  /** Whether there are settings; without them it is unknown which routes may serve. */
  readonly isGoverned: boolean;
}

/**
 * Decides the owner of each host, then the serving generation of each route there. Only changed routes
 * and hosts are decided again, together with those that they affect.
 */
export class RouteDecisions {
  readonly #index: RouteIndex;
  readonly #owners = new HostOwners();
  readonly #arbiter = new Arbiter((host) => this.ownerOf(host));
  #terms: HostTerms;
  #pendingHosts = new Set<string>();
  #pendingEntries = new Set<RouteEntry>();

  constructor(index: RouteIndex, terms: HostTerms) {
    this.#index = index;
    this.#terms = terms;
  }

  /** The only namespace that may use a host; undefined if all may. */
  ownerOf(host: string): string | undefined {
    return this.#terms.sharedHosts.has(host) ? undefined : this.#owners.get(host);
  }

  /** Applies changed settings. */
  setTerms(terms: HostTerms): void {
    const before = this.#terms;
    this.#terms = terms;
    for (const host of new Set([...before.sharedHosts, ...terms.sharedHosts])) {
      const isSame = before.sharedHosts.has(host) === terms.sharedHosts.has(host);
      if (!isSame) this.#reconsiderHost(host);
    }
  }

  /** Whether a changed route is not decided yet. */
  isPending(entry: RouteEntry): boolean {
    return this.#pendingEntries.has(entry);
  }

  /** Marks a route as changed in the claims that it asks for. */
  change(entry: RouteEntry): void {
    for (const host of this.reindex(entry)) this.#pendingHosts.add(host);
    this.#pendingEntries.add(entry);
  }

  /** Updates the indexes. Returns the hosts that a route asked for before and asks for now. */
  reindex(entry: RouteEntry): ReadonlySet<string> {
    this.#arbiter.index(entry);
    return this.#index.update(entry);
  }

  /** Removes a route, and marks its hosts as changed. */
  remove(entry: RouteEntry): void {
    for (const host of this.#index.remove(entry)) this.#pendingHosts.add(host);
    this.#arbiter.remove(entry);
    this.#pendingEntries.delete(entry);
  }

  /** Decides a host again if its owner contradicts the routes that served it in another process. */
  reviewOwner(host: string): void {
    if (this.#owners.review(host, this.#index.onHost(host))) this.#reconsiderHost(host);
  }

  /** Forgets the host that a route served in another process, unless its owner is undecided. */
  forgetServedHost(entry: RouteEntry): void {
    if (entry.isAdmitted && this.#terms.isGoverned) entry.forgetServedHost();
  }

  /** Decides everything pending. Returns the routes that may have changed. */
  decide(): ReadonlySet<RouteEntry> {
    const changed = new Set<RouteEntry>();
    while (this.#pendingHosts.size > 0 || this.#pendingEntries.size > 0) {
      for (const entry of this.#decideOnce()) changed.add(entry);
    }
    return changed;
  }

  /** Decides once. More may be pending afterwards: an accepted route may give up a host. */
  #decideOnce(): ReadonlySet<RouteEntry> {
    const entries = this.#pendingEntries;
    this.#pendingEntries = new Set();
    const decided = new Set(entries);
    const affected = this.#decideOwners();
    for (const entry of affected) entries.add(entry);
    for (const entry of this.#arbiter.decide(entries)) decided.add(entry);
    for (const entry of decided) {
      this.forgetServedHost(entry);
      const now = new Set(entry.hosts);
      for (const host of this.reindex(entry)) if (!now.has(host)) this.#pendingHosts.add(host);
    }
    // A waiting route may lose a host to a new owner, although its decision is the same.
    return new Set([...decided, ...affected]);
  }

  /** Returns the routes that ask for a host with a changed owner. */
  #decideOwners(): readonly RouteEntry[] {
    const hosts = this.#pendingHosts;
    this.#pendingHosts = new Set();
    return [...hosts].flatMap((host) => {
      const entries = this.#index.onHost(host);
      return this.#owners.decide(host, entries) ? [...entries] : [];
    });
  }

  /** Decides a host again, with all routes that ask for it. */
  #reconsiderHost(host: string): void {
    this.#pendingHosts.add(host);
    for (const entry of this.#index.onHost(host)) this.#pendingEntries.add(entry);
  }
}
