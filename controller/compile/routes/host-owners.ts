import { mayHaveHost, type HostRule } from '../host-rules.ts';
import { HostHolds, type HostOwner } from './host-holds.ts';

/** A route that asks for a host. */
interface Claimant {
  readonly namespace: string;
  /** Sorts by age, then by namespace and name. */
  readonly age: string;
  /** Whether the gateway admits routes of its namespace. */
  readonly isAdmitted: boolean;
  /** The host that it served in another process, until the owner of the host is decided here. */
  readonly servedHost: string | undefined;
}

/** How long a host stays with a namespace that has no route there. */
export interface HoldTerms {
  /** By the wall clock, in milliseconds. */
  readonly now: number;
  /** 0 if hosts are not held. */
  readonly holdMs: number;
  readonly rules: readonly HostRule[];
}

/** The result of deciding the owner of a host. */
export interface HostDecision {
  readonly isChanged: boolean;
  /** A host that is no longer held, because too many are. */
  readonly givenUp?: string;
}

/**
 * The namespace that owns each host: the namespace of the oldest route, for as long as any admitted
 * route of that namespace asks for the host, and for a time after that. While no admitted route asks
 * for it, the owner does not change.
 *
 * Attack: routes keep their age when they change. An old route that is changed to ask for the host of
 * another namespace does not get it.
 *
 * Attack: a route that waits for a host would get it the moment that its owner's route is replaced
 * (`kubectl replace --force`, a new installation, a restored backup).
 */
export class HostOwners {
  readonly #owners = new Map<string, HostOwner>();
  readonly #holds = new HostHolds();

  /** The owner of a host. */
  get(host: string): HostOwner | undefined {
    return this.#owners.get(host);
  }

  /** Hosts without a route of their owner. */
  get heldHosts(): Iterable<string> {
    return this.#holds.hosts;
  }

  /** When the first hold began; undefined if no host is held. */
  get firstHeldSince(): number | undefined {
    return this.#holds.firstSince;
  }

  /** Decides the owner, given all routes that ask for the host. */
  decide(host: string, claimants: ReadonlySet<Claimant>, terms: HoldTerms): HostDecision {
    const before = this.#owners.get(host);
    const owner = ownerAfter(before, { host, claimants, terms });
    const isChanged =
      owner?.namespace !== before?.namespace || owner?.vacantSince !== before?.vacantSince;
    return { isChanged, ...(isChanged && this.set(host, owner)) };
  }

  /** Sets the owner of a host; undefined forgets it. */
  set(host: string, owner: HostOwner | undefined): Pick<HostDecision, 'givenUp'> {
    if (owner === undefined) this.#owners.delete(host);
    else this.#owners.set(host, owner);
    const givenUp = this.#holds.record(host, owner);
    return givenUp === undefined ? {} : { givenUp };
  }

  /**
   * Forgets the owner of a host that routes served in another process, if none of these routes is in
   * the owner's namespace. Returns whether the owner was forgotten.
   */
  review(host: string, claimants: ReadonlySet<Claimant>): boolean {
    const owner = this.#owners.get(host)?.namespace;
    const isServed = (one: Claimant): boolean => one.isAdmitted && one.servedHost === host;
    const isWrong =
      owner !== undefined &&
      hasAny(claimants, isServed) &&
      !hasAny(claimants, (one) => isServed(one) && one.namespace === owner);
    if (isWrong) this.set(host, undefined);
    return isWrong;
  }
}

/** A host with the routes that ask for it. */
interface AskedHost {
  readonly host: string;
  readonly claimants: ReadonlySet<Claimant>;
  readonly terms: HoldTerms;
}

function ownerAfter(before: HostOwner | undefined, asked: AskedHost): HostOwner | undefined {
  const { host, claimants } = asked;
  if (before !== undefined) {
    const { namespace } = before;
    const isOwn = (one: Claimant): boolean => one.namespace === namespace;
    if (hasAny(claimants, (one) => one.isAdmitted && isOwn(one))) return { namespace };
    if (hasAny(claimants, isOwn) && oldest(host, claimants) === undefined) return { namespace };
    const held = heldOwner(before, asked);
    if (held !== undefined) return held;
  }
  const owner = oldest(host, claimants);
  return owner && { namespace: owner.namespace };
}

/** Returns the owner while the host is held for it; undefined if it is not held, or not any longer. */
function heldOwner(
  { namespace, vacantSince }: HostOwner,
  { host, terms: { now, holdMs, rules } }: AskedHost,
): HostOwner | undefined {
  const since = vacantSince ?? now;
  const isHeld = now < since + holdMs && mayHaveHost(rules, namespace, host);
  return isHeld ? { namespace, vacantSince: since } : undefined;
}

/** Returns the oldest admitted route. Routes that served the host in another process come first. */
function oldest(host: string, claimants: ReadonlySet<Claimant>): Claimant | undefined {
  let first: Claimant | undefined;
  for (const claimant of claimants) {
    if (claimant.isAdmitted && (first === undefined || comesFirst(claimant, first, host))) {
      first = claimant;
    }
  }
  return first;
}

function comesFirst(one: Claimant, other: Claimant, host: string): boolean {
  const [isServed, isOtherServed] = [one, other].map(({ servedHost }) => servedHost === host);
  return isServed === isOtherServed ? one.age < other.age : isServed === true;
}

function hasAny(claimants: ReadonlySet<Claimant>, holds: (claimant: Claimant) => boolean): boolean {
  for (const claimant of claimants) if (holds(claimant)) return true;
  return false;
}
