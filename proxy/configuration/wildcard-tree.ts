import { hasPort, NO_HELD_HOSTS, type HeldHosts } from './held-hosts.ts';

interface Branch {
  readonly next: Map<string, Branch>;
  /** Keys of the wildcards of this domain, by port. */
  readonly keys: Map<string, string>;
  /** Ports on which the wildcard of this domain is held. */
  heldPorts?: readonly number[];
}

/**
 * Finds the longest wildcard host of a name. Keys are as in `from`: `*.example.com:443`.
 *
 * Attack: to look up a name of many dots once for each dot takes quadratic time. The tree reads each label
 * once, from the last, and stops where no wildcard goes on.
 */
export class WildcardTree {
  readonly #root: Branch = { next: new Map(), keys: new Map() };

  /** Makes the tree of the wildcards among these keys and held hosts. */
  constructor(keys: Iterable<string>, held: HeldHosts = NO_HELD_HOSTS) {
    for (const key of keys) {
      if (!isWildcard(key)) continue;
      const colon = key.lastIndexOf(':');
      this.#branchOf(key.slice(0, colon)).keys.set(key.slice(colon), key);
    }
    for (const [host, ports] of held) {
      if (isWildcard(host)) this.#branchOf(host).heldPorts = ports;
    }
  }

  #branchOf(wildcard: string): Branch {
    let branch = this.#root;
    for (const label of wildcard.slice(WILDCARD.length).split('.').reverse()) {
      const next = branch.next.get(label) ?? { next: new Map(), keys: new Map() };
      branch.next.set(label, next);
      branch = next;
    }
    return branch;
  }

  /**
   * Returns the key of the longest wildcard with this port, written `:443`, for a name; undefined if that
   * wildcard is held, so that no shorter one serves the name.
   */
  find(name: string, port: string): string | undefined {
    let found: string | undefined;
    let branch = this.#root;
    // The first label is what a wildcard stands for, at least.
    for (let end = name.length, dot: number; branch.next.size > 0; end = dot) {
      dot = end > 0 ? name.lastIndexOf('.', end - 1) : -1;
      if (dot <= 0) break;
      const next = branch.next.get(name.slice(dot + 1, end));
      if (next === undefined) break;
      const key = next.keys.get(port);
      if (key !== undefined) found = key;
      else if (hasPort(next.heldPorts, port)) found = undefined;
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
