/** The namespaces with routes on a wildcard and port, and how many routes each has there. */
type RouteCounts = Map<string, number>;

interface Branch {
  readonly next: Map<string, Branch>;
  /** Routes of the wildcard of this domain, by port. */
  readonly ports: Map<number, RouteCounts>;
}

/** A wildcard that a route serves. */
export interface ServingWildcard {
  /** `*.example.com`. */
  readonly host: string;
  readonly port: number;
  readonly namespace: string;
}

/**
 * Finds the wildcards that would serve a name. Labels are read from the last one on, and only as far
 * as there are wildcards.
 */
export class ServingWildcards {
  readonly #root = emptyBranch();

  add({ host, port, namespace }: ServingWildcard): void {
    let branch = this.#root;
    for (const label of domainOf(host)) branch = childOf(branch, label);
    const counts = branch.ports.get(port) ?? new Map<string, number>();
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    branch.ports.set(port, counts);
  }

  delete({ host, port, namespace }: ServingWildcard): void {
    const labels = domainOf(host);
    const branches = [this.#root];
    for (const label of labels) {
      const next = branches.at(-1)?.next.get(label);
      if (next === undefined) return;
      branches.push(next);
    }
    const ports = branches.at(-1)?.ports;
    const counts = ports?.get(port);
    const count = (counts?.get(namespace) ?? 0) - 1;
    if (count > 0) counts?.set(namespace, count);
    else counts?.delete(namespace);
    if (counts?.size === 0) ports?.delete(port);
    prune(branches, labels);
  }

  /** Returns the namespaces of the longest wildcard above a host or wildcard, by port. */
  above(host: string): ReadonlyMap<number, ReadonlySet<string>> {
    const found = new Map<number, ReadonlySet<string>>();
    let branch: Branch | undefined = this.#root;
    // The first label is what a wildcard stands for, at least.
    for (let end = host.length, dot: number; branch.next.size > 0; end = dot) {
      dot = host.lastIndexOf('.', end - 1);
      if (dot <= 0) break;
      branch = branch.next.get(host.slice(dot + 1, end));
      if (branch === undefined) break;
      for (const [port, counts] of branch.ports) found.set(port, new Set(counts.keys()));
    }
    return found;
  }
}

function emptyBranch(): Branch {
  return { next: new Map(), ports: new Map() };
}

function childOf({ next }: Branch, label: string): Branch {
  const child = next.get(label) ?? emptyBranch();
  next.set(label, child);
  return child;
}

/** Removes branches without wildcards, from the longest on. */
function prune(branches: readonly Branch[], labels: readonly string[]): void {
  for (let depth = labels.length; depth > 0; depth -= 1) {
    const branch = branches[depth];
    const label = labels[depth - 1];
    if (branch === undefined || label === undefined) return;
    if (branch.next.size > 0 || branch.ports.size > 0) return;
    branches[depth - 1]?.next.delete(label);
  }
}

/** The labels of a wildcard without `*`, from the last to the first. */
function domainOf(wildcard: string): readonly string[] {
  return wildcard.split('.').slice(1).reverse();
}
