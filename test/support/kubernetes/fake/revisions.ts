/** Counts versions of everything that is stored, as etcd does. */
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
