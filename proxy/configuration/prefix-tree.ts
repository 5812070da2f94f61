interface Branch<Value> {
  readonly next: Map<string, Branch<Value>>;
  value?: Value;
}

/**
 * Finds the longest registered prefix of a path, in whole segments: `/a` is a prefix of `/a` and `/a/b`,
 * not of `/ab`.
 *
 * Attack: to look up a path of thousands of slashes once for each slash takes quadratic time. The tree
 * reads each segment once, and stops where no registered prefix goes on.
 */
export class PrefixTree<Value> {
  readonly #root: Branch<Value> = { next: new Map() };

  /** Registers a prefix: one or more segments, each with a slash before it. */
  add(prefix: string, value: Value): void {
    let branch = this.#root;
    for (const segment of prefix.slice(1).split('/')) {
      const next = branch.next.get(segment) ?? { next: new Map() };
      branch.next.set(segment, next);
      branch = next;
    }
    branch.value = value;
  }

  /** Returns the value of the longest prefix of a path that begins with a slash. */
  find(path: string): Value | undefined {
    let found: Value | undefined;
    let branch = this.#root;
    for (let start = 1; branch.next.size > 0 && start <= path.length;) {
      const slash = path.indexOf('/', start);
      const end = slash === -1 ? path.length : slash;
      const next = branch.next.get(path.slice(start, end));
      if (next === undefined) break;
      found = next.value ?? found;
      branch = next;
      start = end + 1;
    }
    return found;
  }
}
