import { AgeList } from './age-order.ts';
import type { RouteClaims } from './claims.ts';
import type { RouteEntry } from './route-entry.ts';

/** The oldest route of an authority, which determines the scheme of all routes there. */
export interface FirstRoute {
  readonly entry: RouteEntry;
  readonly claims: RouteClaims;
}

/** The claims that routes hold now. */
export class Holdings {
  readonly #held = new Map<RouteEntry, RouteClaims>();
  readonly #holders = new Map<string, RouteEntry>();
  readonly #onAuthority = new Map<string, AgeList<RouteEntry>>();

  /** The claims that a route holds. */
  of(entry: RouteEntry): RouteClaims | undefined {
    return this.#held.get(entry);
  }

  /** The route that holds a claim, by the key of the claim. */
  holderOf(key: string): RouteEntry | undefined {
    return this.#holders.get(key);
  }

  /** The oldest route that holds claims on an authority. */
  firstOn(authority: string): FirstRoute | undefined {
    const entry = this.#onAuthority.get(authority)?.oldest;
    const claims = entry && this.#held.get(entry);
    return entry && claims && { entry, claims };
  }

  /** Gives claims to a route, instead of those that it held. */
  replace(entry: RouteEntry, claims: RouteClaims | undefined): void {
    const before = this.#held.get(entry);
    if (before !== undefined) this.#release(entry, before);
    if (claims !== undefined) this.#hold(entry, claims);
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

  #hold(entry: RouteEntry, claims: RouteClaims): void {
    this.#held.set(entry, claims);
    for (const { key } of claims.claims) this.#holders.set(key, entry);
    const list = this.#onAuthority.get(claims.authority) ?? new AgeList<RouteEntry>();
    list.add(entry);
    this.#onAuthority.set(claims.authority, list);
  }
}
