import { MultiMap } from '../multi-map.ts';
import type { Problem } from '../../validate/problem.ts';
import { AgeList, AgeQueue } from './age-order.ts';
import { isSameClaim, keysOf, schemeKey, type RouteClaims } from './claims.ts';
import type { RouteEntry } from './route-entry.ts';
import type { RouteGeneration } from './route-generation.ts';

/**
 * Settles which routes get what several ask for: the oldest, then the first by namespace and name, as
 * in the Gateway API. Each gets what its newest generation asks for, or else what its fallback does.
 *
 * What a route gets depends on older routes alone. So who changed, and who asks for what changed
 * hands, is looked at from the oldest to the youngest, each once.
 */
export class Arbiter {
  /** The only namespace that may use a host; undefined: all may. */
  readonly #ownerOf: (host: string) => string | undefined;
  readonly #asking = new MultiMap<string, RouteEntry>();
  readonly #asked = new Map<RouteEntry, readonly RouteClaims[]>();
  readonly #held = new Map<RouteEntry, RouteClaims>();
  readonly #holders = new Map<string, RouteEntry>();
  readonly #onAuthority = new Map<string, AgeList<RouteEntry>>();
  readonly #queue = new AgeQueue<RouteEntry>();
  #decisions = 0;

  constructor(ownerOf: (host: string) => string | undefined) {
    this.#ownerOf = ownerOf;
  }

  /** How often it was decided what serves of a route. */
  get decisions(): number {
    return this.#decisions;
  }

  /** Takes note of what an entry asks for. */
  index(entry: RouteEntry): void {
    const before = this.#asked.get(entry) ?? [];
    const now = entry.generations.flatMap(({ claims }) => claims ?? []);
    if (now.length > 0 && isSameList(before, now)) return;
    this.#forget(entry, before);
    for (const claims of now) {
      for (const key of keysOf(claims)) this.#asking.add(key, entry);
    }
    this.#asked.set(entry, now);
  }

  /** Forgets an entry: what it has got passes on. */
  remove(entry: RouteEntry): void {
    this.#forget(entry, this.#asked.get(entry) ?? []);
    this.#asked.delete(entry);
    this.#hold(entry, undefined);
  }

  /** Looks at these entries, and at all that it concerns. Answers with those that got another answer. */
  settle(entries: Iterable<RouteEntry>): ReadonlySet<RouteEntry> {
    for (const entry of entries) this.#queue.add(entry);
    const changed = new Set<RouteEntry>();
    for (let entry = this.#queue.take(); entry !== undefined; entry = this.#queue.take()) {
      if (!this.#asked.has(entry)) continue;
      this.#decisions += 1;
      const { serving, conflict } = this.#judge(entry);
      this.#hold(entry, serving?.claims);
      if (entry.settle(serving, conflict)) changed.add(entry);
    }
    return changed;
  }

  #forget(entry: RouteEntry, asked: readonly RouteClaims[]): void {
    for (const claims of asked) {
      for (const key of keysOf(claims)) this.#asking.delete(key, entry);
    }
  }

  #judge(entry: RouteEntry): {
    readonly serving: RouteGeneration | undefined;
    readonly conflict: Problem | undefined;
  } {
    if (!entry.isAdmitted) return { serving: undefined, conflict: undefined };
    const { newest, fallback } = entry;
    const conflict = newest.claims && this.#conflictOf(entry, newest.claims);
    if (newest.claims !== undefined && conflict === undefined) return { serving: newest, conflict };
    const isFree =
      fallback?.claims !== undefined && this.#conflictOf(entry, fallback.claims) === undefined;
    return { serving: isFree ? fallback : undefined, conflict };
  }

  /** Why an entry does not get what it asks for; undefined when it does. */
  #conflictOf(
    entry: RouteEntry,
    { host, authority, scheme, claims }: RouteClaims,
  ): Problem | undefined {
    const owner = this.#ownerOf(host);
    if (owner !== undefined && owner !== entry.namespace) {
      return conflict(`the host belongs to namespace ${owner}`);
    }
    const first = this.#onAuthority.get(authority)?.oldest;
    const firstScheme = first && this.#held.get(first)?.scheme;
    if (isOlder(first, entry) && firstScheme !== undefined && firstScheme !== scheme) {
      return conflict(`${nameFor(entry, first)} already serves ${authority} as ${firstScheme}`);
    }
    for (const { key, what } of claims) {
      const holder = this.#holders.get(key);
      if (isOlder(holder, entry)) return conflict(`${nameFor(entry, holder)} already ${what}`);
    }
    return undefined;
  }

  /** Gives an entry what it asks for, instead of what it had, and calls those whom that concerns. */
  #hold(entry: RouteEntry, now: RouteClaims | undefined): void {
    const before = this.#held.get(entry);
    if (before === now || isSameClaim(before, now)) return;
    const both = [before, now].flatMap((claims) => claims ?? []);
    const authorities = [...new Set(both.map(({ authority }) => authority))];
    const firsts = authorities.map((authority) => this.#firstOn(authority));
    if (before !== undefined) this.#release(entry, before);
    if (now !== undefined) this.#take(entry, now);
    for (const [index, authority] of authorities.entries()) {
      this.#callOthers(entry, firsts[index], this.#firstOn(authority));
    }
    for (const { host, claims } of both) {
      for (const { key } of claims) this.#call(entry, host, key);
    }
  }

  /** Those that ask for another scheme than the oldest route of an authority, when that changes. */
  #callOthers(by: RouteEntry, before: First | undefined, now: First | undefined): void {
    if (before?.entry === now?.entry && before?.claims === now?.claims) return;
    for (const first of [before, now]) {
      if (first === undefined) continue;
      const { host, authority, scheme } = first.claims;
      this.#call(by, host, schemeKey(authority, scheme === 'http' ? 'https' : 'http'));
    }
  }

  #release(entry: RouteEntry, { authority, claims }: RouteClaims): void {
    this.#held.delete(entry);
    for (const { key } of claims) {
      if (this.#holders.get(key) === entry) this.#holders.delete(key);
    }
    const list = this.#onAuthority.get(authority);
    list?.delete(entry);
    if (list?.oldest === undefined) this.#onAuthority.delete(authority);
  }

  #take(entry: RouteEntry, now: RouteClaims): void {
    this.#held.set(entry, now);
    for (const { key } of now.claims) this.#holders.set(key, entry);
    const list = this.#onAuthority.get(now.authority) ?? new AgeList<RouteEntry>();
    list.add(entry);
    this.#onAuthority.set(now.authority, list);
  }

  #firstOn(authority: string): First | undefined {
    const entry = this.#onAuthority.get(authority)?.oldest;
    const claims = entry && this.#held.get(entry);
    return entry && claims && { entry, claims };
  }

  /** Those that may use the host and ask for what changed hands. Older ones get it in any case. */
  #call(by: RouteEntry, host: string, key: string): void {
    const owner = this.#ownerOf(host);
    for (const entry of this.#asking.get(key)) {
      const mayUse = owner === undefined || owner === entry.namespace;
      if (mayUse && isOlder(by, entry)) this.#queue.add(entry);
    }
  }
}

/** The oldest route of an authority, whose scheme is that of all. */
interface First {
  readonly entry: RouteEntry;
  readonly claims: RouteClaims;
}

function isSameList(one: readonly RouteClaims[], other: readonly RouteClaims[]): boolean {
  return one.length === other.length && one.every((claims, index) => claims === other[index]);
}

function isOlder<E extends RouteEntry>(one: E | undefined, other: E): one is E {
  return one !== undefined && one.age < other.age;
}

function conflict(message: string): Problem {
  return { path: 'spec.from', reason: 'HostConflict', message };
}

/** What a route is told of another one: in a foreign namespace, not its name. */
function nameFor({ namespace }: RouteEntry, other: RouteEntry): string {
  if (other.namespace === namespace) return `Route ${other.name}`;
  return `a Route of namespace ${other.namespace}`;
}
