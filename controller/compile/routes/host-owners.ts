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

/**
 * The namespace that owns each host: the namespace of the oldest route, for as long as any admitted
 * route of that namespace asks for the host. While no admitted route asks for it, the owner does not
 * change.
 *
 * Attack: routes keep their age when they change. An old route that is changed to ask for the host of
 * another namespace does not get it.
 */
export class HostOwners {
  readonly #owners = new Map<string, string>();

  /** The namespace that owns a host. */
  get(host: string): string | undefined {
    return this.#owners.get(host);
  }

  /** Decides the owner, given all routes that ask for the host. Returns whether it changed. */
  decide(host: string, claimants: ReadonlySet<Claimant>): boolean {
    const before = this.#owners.get(host);
    if (isAsked(claimants, before)) return false;
    const owner = oldest(host, claimants)?.namespace;
    const isKept = owner === undefined && hasAny(claimants, (one) => one.namespace === before);
    if (isKept || owner === before) return false;
    if (owner === undefined) this.#owners.delete(host);
    else this.#owners.set(host, owner);
    return true;
  }

  /**
   * Forgets the owner of a host that routes served in another process, if none of these routes is in
   * the owner's namespace. Returns whether the owner was forgotten.
   */
  review(host: string, claimants: ReadonlySet<Claimant>): boolean {
    const owner = this.#owners.get(host);
    const isServed = (one: Claimant): boolean => one.isAdmitted && one.servedHost === host;
    const isWrong =
      owner !== undefined &&
      hasAny(claimants, isServed) &&
      !hasAny(claimants, (one) => isServed(one) && one.namespace === owner);
    if (isWrong) this.#owners.delete(host);
    return isWrong;
  }
}

function isAsked(claimants: ReadonlySet<Claimant>, owner: string | undefined): boolean {
  return (
    owner !== undefined &&
    hasAny(claimants, ({ isAdmitted, namespace }) => isAdmitted && namespace === owner)
  );
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
