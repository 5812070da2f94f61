/** A route that asks for a host. */
interface Claimant {
  readonly namespace: string;
  /** Sorts by age, then by namespace and name. */
  readonly age: string;
  /** Whether the gateway takes routes of its namespace. */
  readonly isAdmitted: boolean;
  /** The host that it is known to have served, until it is settled whose that is. */
  readonly servedHost: string | undefined;
}

/**
 * Which namespace each host belongs to: that of its oldest route, for as long as any route of that
 * namespace asks for it. While none that is admitted asks for it, it stays whose it was.
 *
 * Attack: routes keep their age when they change. An old one that is changed to ask for the host of
 * another namespace does not get it.
 */
export class HostOwners {
  readonly #owners = new Map<string, string>();

  get(host: string): string | undefined {
    return this.#owners.get(host);
  }

  /** Finds the owner among all routes that ask for a host. Answers whether it is another one. */
  settle(host: string, claimants: ReadonlySet<Claimant>): boolean {
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
   * Forgets the owner of a host where routes are known to have served it, and none of them is the
   * owner's. Answers whether it did.
   */
  doubt(host: string, claimants: ReadonlySet<Claimant>): boolean {
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

/** The oldest that is admitted. Those that another process let serve the host go first. */
function oldest(host: string, claimants: ReadonlySet<Claimant>): Claimant | undefined {
  let first: Claimant | undefined;
  for (const claimant of claimants) {
    if (claimant.isAdmitted && (first === undefined || goesFirst(claimant, first, host))) {
      first = claimant;
    }
  }
  return first;
}

function goesFirst(one: Claimant, other: Claimant, host: string): boolean {
  const [isServed, isOtherServed] = [one, other].map(({ servedHost }) => servedHost === host);
  return isServed === isOtherServed ? one.age < other.age : isServed === true;
}

function hasAny(claimants: ReadonlySet<Claimant>, holds: (claimant: Claimant) => boolean): boolean {
  for (const claimant of claimants) if (holds(claimant)) return true;
  return false;
}
