import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Compilation } from '../compile/compilation.ts';

/** Several compilations, one after the other, as one. */
export class PendingCompilation {
  readonly #put = new Map<string, SnapshotResource>();
  readonly #deleted = new Set<string>();
  readonly #routes = new Map<
    string,
    Compilation['routes'] extends ReadonlyMap<string, infer V> ? V : never
  >();
  #settings: Compilation['settings'];

  add({ put, deleted, routes, settings }: Compilation): void {
    for (const resource of put) {
      this.#put.set(resource.key, resource);
      this.#deleted.delete(resource.key);
    }
    for (const key of deleted) {
      this.#put.delete(key);
      this.#deleted.add(key);
    }
    for (const [name, verdict] of routes) this.#routes.set(name, verdict);
    if (settings !== undefined) this.#settings = settings;
  }

  /** What they came to together; nothing is pending then. */
  take(): Compilation {
    const compilation: Compilation = {
      put: [...this.#put.values()],
      deleted: [...this.#deleted],
      routes: new Map(this.#routes),
      ...(this.#settings !== undefined && { settings: this.#settings }),
    };
    this.#put.clear();
    this.#deleted.clear();
    this.#routes.clear();
    this.#settings = undefined;
    return compilation;
  }
}
