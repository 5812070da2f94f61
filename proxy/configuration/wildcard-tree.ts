interface Branch {
  readonly next: Map<string, Branch>;
  /** Keys of the wildcards of this domain, by port. */
  readonly keys: Map<string, string>;
}

/**
 * Finds the longest wildcard host of a name. Keys are as in `from`: `*.example.com:443`.
 *
 * Attack: to look up a name of many dots once for each dot takes quadratic time. The tree reads each label
 * once, from the last, and stops where no wildcard goes on.
 */
export class WildcardTree {
  readonly #root: Branch = { next: new Map(), keys: new Map() };

  /** Makes the tree of the wildcards among these keys. */
  constructor(keys: Iterable<string>) {
    for (const key of keys) if (isWildcard(key)) this.#add(key);
  }

  #add(key: string): void {
    const colon = key.lastIndexOf(':');
    let branch = this.#root;
    for (const label of key.slice(WILDCARD.length, colon).split('.').reverse()) {
      const next = branch.next.get(label) ?? { next: new Map(), keys: new Map() };
      branch.next.set(label, next);
      branch = next;
    }
    branch.keys.set(key.slice(colon), key);
  }

  /** Returns the key of the longest wildcard with this port, written `:443`, for a name. */
  find(name: string, port: string): string | undefined {
    let found: string | undefined;
    let branch = this.#root;
    // The first label is what a wildcard stands for, at least.
    for (let end = name.length, dot: number; branch.next.size > 0; end = dot) {
      dot = end > 0 ? name.lastIndexOf('.', end - 1) : -1;
      if (dot <= 0) break;
      const next = branch.next.get(name.slice(dot + 1, end));
      if (next === undefined) break;
      found = next.keys.get(port) ?? found;
      branch = next;
    }
    return found;
  }
}

const WILDCARD = '*.';

/** Returns whether the key of a host is a wildcard. */
export function isWildcard(key: string): boolean {
  return key.startsWith(WILDCARD);
}
