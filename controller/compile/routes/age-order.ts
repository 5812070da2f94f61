/** Something with a unique age. */
export interface Aged {
  /** Sorts by age, then by namespace and name. */
  readonly age: string;
}

/** Members, sorted by age. */
export class AgeList<T extends Aged> {
  readonly #members: T[] = [];

  get oldest(): T | undefined {
    return this.#members[0];
  }

  add(member: T): void {
    const index = this.#find(member);
    if (this.#members[index] !== member) this.#members.splice(index, 0, member);
  }

  delete(member: T): void {
    const index = this.#find(member);
    if (this.#members[index] === member) this.#members.splice(index, 1);
  }

  /** The index of a member, or where to insert it. */
  #find({ age }: T): number {
    let low = 0;
    let high = this.#members.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#members[middle]?.age ?? '') < age) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A queue that returns the oldest member first, and holds each member once: a binary heap. */
export class AgeQueue<T extends Aged> {
  readonly #heap: T[] = [];
  readonly #members = new Set<T>();

  add(member: T): void {
    if (this.#members.has(member)) return;
    this.#members.add(member);
    let index = this.#heap.push(member) - 1;
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      const above = this.#heap[parent];
      if (above === undefined || above.age < member.age) break;
      this.#heap[index] = above;
      index = parent;
    }
    this.#heap[index] = member;
  }

  removeOldest(): T | undefined {
    const [oldest] = this.#heap;
    const last = this.#heap.pop();
    if (oldest === undefined || last === undefined) return undefined;
    this.#members.delete(oldest);
    if (oldest !== last) this.#sink(last);
    return oldest;
  }

  /** Moves a member down from the top to its place. */
  #sink(member: T): void {
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      let below = this.#heap[child];
      const other = this.#heap[child + 1];
      if (below === undefined) break;
      if (other !== undefined && other.age < below.age) {
        child += 1;
        below = other;
      }
      if (below.age > member.age) break;
      this.#heap[index] = below;
      index = child;
    }
    this.#heap[index] = member;
  }
}
