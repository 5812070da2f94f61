/** Sets of values by key. A key without values is removed. */
export class MultiMap<K, V> {
  readonly #sets = new Map<K, Set<V>>();

  get(key: K): ReadonlySet<V> {
    return this.#sets.get(key) ?? new Set();
  }

  keys(): IterableIterator<K> {
    return this.#sets.keys();
  }

  add(key: K, value: V): void {
    const set = this.#sets.get(key);
    if (set === undefined) this.#sets.set(key, new Set([value]));
    else set.add(value);
  }

  delete(key: K, value: V): void {
    const set = this.#sets.get(key);
    set?.delete(value);
    if (set?.size === 0) this.#sets.delete(key);
  }
}
