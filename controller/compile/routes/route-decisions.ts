import type { HostRule } from '../host-rules.ts';
import { Arbiter, type HostUser } from './arbiter.ts';
import type { HostOwner } from './host-holds.ts';
import { HostOwners, type HoldTerms } from './host-owners.ts';
import type { RouteEntry } from './route-entry.ts';
import type { RouteIndex } from './route-index.ts';

/** How long a process may take to store that a host is held. */
const UNSTORED_MS = 60_000;

/** The part of the settings that decides about hosts. */
export interface HostTerms {
  /** Hosts that routes of several namespaces may use. */
  readonly sharedHosts: ReadonlySet<string>;
  /** Whether there are settings; without them it is unknown which routes may serve. */
  readonly isGoverned: boolean;
  /** How long a host stays with a namespace after its last route there; 0: not at all. */
  readonly hostHoldMs: number;
  readonly hostRules: readonly HostRule[];
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
  /** By the wall clock. */
  #now = 0;
  readonly #onHost: (host: string, record: HostOwner | undefined) => void;

  /** `onHost` receives the owner of a host that must not be forgotten, each time that it is decided. */
  constructor(
    index: RouteIndex,
    terms: HostTerms,
    onHost: (host: string, record: HostOwner | undefined) => void,
  ) {
    this.#index = index;
    this.#terms = terms;
    this.#onHost = onHost;
  }

  /** The only namespace that may use a host; undefined if all may. */
  ownerOf(host: string): HostUser | undefined {
    const owner = this.#terms.sharedHosts.has(host) ? undefined : this.#owners.get(host);
    if (owner?.vacantSince === undefined) return owner;
    const { namespace, vacantSince } = owner;
    return { namespace, heldUntil: vacantSince + this.#terms.hostHoldMs };
  }

  /** When the next host stops being held; undefined if no host is held. */
  get nextExpiry(): number | undefined {
    const since = this.#owners.firstHeldSince;
    return since === undefined ? undefined : since + this.#terms.hostHoldMs;
  }

  /** Sets the time, and decides the hosts again that are not held any longer. */
  setTime(now: number): void {
    this.#now = Math.max(this.#now, now);
    if ((this.nextExpiry ?? Infinity) > this.#now) return;
    const { hostHoldMs } = this.#terms;
    this.#reconsiderHeld(({ vacantSince = 0 }) => vacantSince + hostHoldMs <= this.#now);
  }

  /** Ends the holds of these hosts. */
  release(hosts: Iterable<string>): void {
    for (const host of hosts) {
      if (this.#owners.get(host)?.vacantSince === undefined) continue;
      this.#owners.set(host, undefined);
      this.#reconsiderHost(host);
    }
  }

  /** Ends the holds for these namespaces. */
  releaseNamespaces(namespaces: ReadonlySet<string>): void {
    const hosts = [...this.#owners.heldHosts];
    this.release(hosts.filter((host) => namespaces.has(this.#owners.get(host)?.namespace ?? '')));
  }

  /** Namespaces that hosts are held for. */
  get holders(): ReadonlySet<string> {
    const hosts = [...this.#owners.heldHosts];
    return new Set(hosts.flatMap((host) => this.#owners.get(host)?.namespace ?? []));
  }

  /** Replaces the holds by those that another process stored. */
  adoptHosts(records: ReadonlyMap<string, HostOwner>): void {
    const own = [...this.#owners.heldHosts].filter((host) => !records.has(host));
    this.release(own.filter((host) => !this.#isYoung(host)));
    for (const [host, owner] of records) {
      this.#owners.set(host, owner);
      this.#reconsiderHost(host);
    }
  }

  /** The other process may have ended before it could store this. */
  #isYoung(host: string): boolean {
    const { vacantSince = 0 } = this.#owners.get(host) ?? {};
    return this.#now - vacantSince < UNSTORED_MS;
  }

  /** Applies changed settings. */
  setTerms(terms: HostTerms): void {
    const before = this.#terms;
    this.#terms = terms;
    for (const host of new Set([...before.sharedHosts, ...terms.sharedHosts])) {
      const isSame = before.sharedHosts.has(host) === terms.sharedHosts.has(host);
      if (!isSame) this.#reconsiderHost(host);
    }
    this.#reconsiderHeld(() => true);
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
      const { isChanged, givenUp } = this.#owners.decide(host, entries, this.#holdTerms(host));
      if (givenUp !== undefined) this.release([givenUp]);
      this.#onHost(host, this.#recordOf(host, entries));
      return isChanged ? [...entries] : [];
    });
  }

  #holdTerms(host: string): HoldTerms {
    const { sharedHosts, hostHoldMs, hostRules: rules } = this.#terms;
    return { now: this.#now, holdMs: sharedHosts.has(host) ? 0 : hostHoldMs, rules };
  }

  /**
   * Returns the owner of a host if another process would find a different one: when the owner has no
   * route there, or when a route of another namespace waits for the owner's to go.
   */
  #recordOf(host: string, entries: ReadonlySet<RouteEntry>): HostOwner | undefined {
    const owner = this.#owners.get(host);
    const { holdMs } = this.#holdTerms(host);
    if (owner === undefined || holdMs === 0) return undefined;
    if (owner.vacantSince !== undefined) return owner;
    for (const { namespace } of entries) if (namespace !== owner.namespace) return owner;
    return undefined;
  }

  #reconsiderHeld(isMeant: (owner: HostOwner) => boolean): void {
    for (const host of [...this.#owners.heldHosts]) {
      const owner = this.#owners.get(host);
      if (owner !== undefined && isMeant(owner)) this.#reconsiderHost(host);
    }
  }

  /** Decides a host again, with all routes that ask for it. */
  #reconsiderHost(host: string): void {
    this.#pendingHosts.add(host);
    for (const entry of this.#index.onHost(host)) this.#pendingEntries.add(entry);
  }
}
