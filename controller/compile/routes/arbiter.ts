import { formatTime } from '../../../shared/runtime/format-time.ts';
import type { Problem } from '../../validate/problem.ts';
import { MultiMap } from '../multi-map.ts';
import { AgeQueue } from './age-order.ts';
import { hasSameClaims, keysOf, schemeKey, type RouteClaims } from './claims.ts';
import { Holdings, type FirstRoute } from './holdings.ts';
import type { RouteDecision, RouteEntry } from './route-entry.ts';

/** The only namespace that may use a host. */
export interface HostUser {
  readonly namespace: string;
  /** Until when the host is kept for it although none of its routes may use it; absent if one may. */
  readonly heldUntil?: number;
}

type OwnerOf = (host: string) => HostUser | undefined;

/**
 * Decides which routes get the claims that several ask for: the oldest, then the first by namespace
 * and name, as in the Gateway API. Each gets the claims of its newest generation, or else those of its
 * fallback.
 *
 * The claims that a route gets depend only on older routes. So changed routes, and those that ask for
 * claims that changed hands, are decided from the oldest to the youngest, each once.
 */
export class Arbiter {
  readonly #ownerOf: OwnerOf;
  readonly #asking = new MultiMap<string, RouteEntry>();
  readonly #asked = new Map<RouteEntry, readonly RouteClaims[]>();
  readonly #holdings = new Holdings();
  readonly #queue = new AgeQueue<RouteEntry>();

  constructor(ownerOf: OwnerOf) {
    this.#ownerOf = ownerOf;
  }

  /** Records the claims that a route asks for. */
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

  /** Removes a route, and passes on the claims that it held. */
  remove(entry: RouteEntry): void {
    this.#forget(entry, this.#asked.get(entry) ?? []);
    this.#asked.delete(entry);
    this.#hold(entry, undefined);
  }

  /** Decides these routes, and those that this affects. Returns the routes with a changed decision. */
  decide(entries: Iterable<RouteEntry>): ReadonlySet<RouteEntry> {
    for (const entry of entries) this.#queue.add(entry);
    const changed = new Set<RouteEntry>();
    for (
      let entry = this.#queue.removeOldest();
      entry !== undefined;
      entry = this.#queue.removeOldest()
    ) {
      if (!this.#asked.has(entry)) continue;
      const decision = this.#judge(entry);
      this.#hold(entry, decision.kind === 'rejected' ? undefined : decision.serving.claims);
      if (entry.decide(decision)) changed.add(entry);
    }
    return changed;
  }

  #forget(entry: RouteEntry, asked: readonly RouteClaims[]): void {
    for (const claims of asked) {
      for (const key of keysOf(claims)) this.#asking.delete(key, entry);
    }
  }

  #judge(entry: RouteEntry): RouteDecision {
    if (!entry.isAdmitted) return { kind: 'rejected', conflict: undefined };
    const { newest, fallback } = entry;
    const conflict = newest.claims && this.#conflictOf(entry, newest.claims);
    if (newest.claims !== undefined && conflict === undefined) {
      return { kind: 'accepted', serving: newest };
    }
    if (fallback?.claims === undefined || this.#conflictOf(entry, fallback.claims) !== undefined) {
      return { kind: 'rejected', conflict };
    }
    return { kind: 'fallback', serving: fallback, conflict };
  }

  /** Returns why a route cannot have these claims; undefined if it can. */
  #conflictOf(
    entry: RouteEntry,
    { host, authority, scheme, claims }: RouteClaims,
  ): Problem | undefined {
    const owner = this.#ownerOf(host);
    if (owner !== undefined && owner.namespace !== entry.namespace) {
      return conflict(belongsTo(owner));
    }
    const first = this.#holdings.firstOn(authority);
    if (first !== undefined && isOlder(first.entry, entry) && first.claims.scheme !== scheme) {
      const name = nameFor(entry, first.entry);
      return conflict(`${name} already serves ${authority} as ${first.claims.scheme}`);
    }
    for (const { key, what } of claims) {
      const holder = this.#holdings.holderOf(key);
      if (isOlder(holder, entry)) return conflict(`${nameFor(entry, holder)} already ${what}`);
    }
    return undefined;
  }

  /** Gives claims to a route instead of those that it held, and queues the routes this affects. */
  #hold(entry: RouteEntry, now: RouteClaims | undefined): void {
    const before = this.#holdings.of(entry);
    if (before === now || hasSameClaims(before, now)) return;
    const both = [before, now].flatMap((claims) => claims ?? []);
    const authorities = [...new Set(both.map(({ authority }) => authority))];
    const firsts = authorities.map((authority) => this.#holdings.firstOn(authority));
    this.#holdings.replace(entry, now);
    for (const [index, authority] of authorities.entries()) {
      this.#queueOtherScheme(entry, firsts[index], this.#holdings.firstOn(authority));
    }
    for (const { host, claims } of both) {
      for (const { key } of claims) this.#queueAsking(entry, host, key);
    }
  }

  /** If the first route of an authority changed, queues the routes that ask for the other scheme. */
  #queueOtherScheme(
    by: RouteEntry,
    before: FirstRoute | undefined,
    now: FirstRoute | undefined,
  ): void {
    if (before?.entry === now?.entry && before?.claims === now?.claims) return;
    for (const first of [before, now]) {
      if (first === undefined) continue;
      const { host, authority, scheme } = first.claims;
      this.#queueAsking(by, host, schemeKey(authority, scheme === 'http' ? 'https' : 'http'));
    }
  }

  /** Queues younger routes that may use a host and ask for a claim that changed hands. */
  #queueAsking(by: RouteEntry, host: string, key: string): void {
    const owner = this.#ownerOf(host);
    for (const entry of this.#asking.get(key)) {
      const mayUse = owner === undefined || owner.namespace === entry.namespace;
      if (mayUse && isOlder(by, entry)) this.#queue.add(entry);
    }
  }
}

function belongsTo({ namespace, heldUntil }: HostUser): string {
  const owner = `the host belongs to namespace ${namespace}`;
  if (heldUntil === undefined) return owner;
  return `${owner}, for which it is held until ${formatTime(heldUntil)}`;
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

/** Names another route in a problem of this one. The name is not shown to another namespace. */
function nameFor({ namespace }: RouteEntry, other: RouteEntry): string {
  if (other.namespace === namespace) return `Route ${other.name}`;
  return `a Route of namespace ${other.namespace}`;
}
