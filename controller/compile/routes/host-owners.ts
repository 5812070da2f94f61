/** A route that asks for a host. */
interface Claim {
  readonly namespace: string;
  /** Sorts by age, then by namespace and name. */
  readonly age: string;
  /** The host that it is known to have served when it was first seen; undefined: none. */
  readonly servedHost: string | undefined;
}

/**
 * Which namespace each host belongs to: that of its oldest route, for as long as any route of that
 * namespace asks for it.
 *
 * Attack: routes keep their age when they change. An old one that is changed to ask for the host of
 * another namespace does not get it.
 */
export class HostOwners {
  readonly #owners = new Map<string, string>();

  /** Finds the owner among all routes that ask for a host; undefined when none does. */
  settle(host: string, claims: ReadonlySet<Claim>): string | undefined {
    const before = this.#owners.get(host);
    const list = [...claims];
    const owner = list.some(({ namespace }) => namespace === before)
      ? before
      : oldest(preferred(list, host))?.namespace;
    if (owner === undefined) this.#owners.delete(host);
    else this.#owners.set(host, owner);
    return owner;
  }
}

/** Another process may have settled whose host it is: then routes that it let serve go first. */
function preferred(claims: readonly Claim[], host: string): readonly Claim[] {
  const served = claims.filter(({ servedHost }) => servedHost === host);
  return served.length > 0 ? served : claims;
}

function oldest(claims: readonly Claim[]): Claim | undefined {
  let first: Claim | undefined;
  for (const claim of claims) if (first === undefined || claim.age < first.age) first = claim;
  return first;
}
