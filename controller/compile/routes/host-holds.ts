/**
 * The most hosts that are kept for namespaces without a route there.
 *
 * @internal Exported for the test of this limit.
 */
export const MAX_HELD_HOSTS = 10_000;

/** The namespace that owns a host. */
export interface HostOwner {
  readonly namespace: string;
  /** When its last admitted route there went, by the wall clock; absent while one asks for the host. */
  readonly vacantSince?: number;
}

/** Changes of the owners that have to be stored, by host; undefined: nothing has to be stored. */
export type HostRecords = ReadonlyMap<string, HostOwner | undefined>;

/** The owners of hosts without a route of their owner, oldest first, and bounded in number. */
export class HostHolds {
  readonly #held = new Map<string, Required<HostOwner>>();
  readonly #counts = new Map<string, number>();

  get hosts(): Iterable<string> {
    return this.#held.keys();
  }

  /** When the first of them began; undefined if there are none. */
  get firstSince(): number | undefined {
    let first: number | undefined;
    for (const { vacantSince } of this.#held.values()) {
      if (first === undefined || vacantSince < first) first = vacantSince;
    }
    return first;
  }

  /** Records the owner of a host. Returns the host that has to be given up for it. */
  record(host: string, owner: HostOwner | undefined): string | undefined {
    const before = this.#held.get(host);
    if (before !== undefined) {
      this.#held.delete(host);
      this.#count(before.namespace, -1);
    }
    if (owner?.vacantSince === undefined) return undefined;
    const { namespace, vacantSince } = owner;
    this.#held.set(host, { namespace, vacantSince });
    this.#count(namespace, 1);
    return this.#held.size > MAX_HELD_HOSTS ? this.#firstOfLargest() : undefined;
  }

  #count(namespace: string, change: number): void {
    const count = (this.#counts.get(namespace) ?? 0) + change;
    if (count === 0) this.#counts.delete(namespace);
    else this.#counts.set(namespace, count);
  }

  /** Attack: a namespace that makes and deletes many routes must not end the holds of others. */
  #firstOfLargest(): string | undefined {
    const [largest] = [...this.#counts].reduce((one, other) => (other[1] > one[1] ? other : one));
    for (const [host, { namespace }] of this.#held) if (namespace === largest) return host;
    return undefined;
  }
}
