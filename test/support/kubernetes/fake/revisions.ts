/** Counts the versions of all stored objects, as etcd does. */
export class Revisions {
  #current = 1;

  get current(): number {
    return this.#current;
  }

  next(): number {
    this.#current += 1;
    return this.#current;
  }
}
