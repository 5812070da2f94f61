import type { StoredRoute } from '../../kubernetes/stored-resources.ts';
import type { Problem } from '../../validate/problem.ts';
import { namespaceOf, resourceName } from '../resources.ts';
import type { RouteGeneration } from './route-generation.ts';

/** A route, with the generations of it that may serve. */
export class RouteEntry {
  readonly name: string;
  readonly namespace: string;
  /** Sorts by age, then by namespace and name. */
  readonly age: string;
  /** The newest generation, as it came last. */
  resource: StoredRoute;
  /** The host that it is known to have served, until it is settled whose that is. */
  servedHost: string | undefined;
  isAdmitted = true;
  #newest: RouteGeneration;
  #accepted: RouteGeneration | undefined;
  #serving: RouteGeneration | undefined;
  #conflict: Problem | undefined;

  constructor(
    resource: StoredRoute,
    newest: RouteGeneration,
    accepted: RouteGeneration | undefined,
  ) {
    this.name = resourceName(resource);
    this.namespace = namespaceOf(resource);
    this.age = ageOf(resource);
    this.resource = resource;
    this.#newest = newest;
    this.#accepted = accepted;
  }

  get newest(): RouteGeneration {
    return this.#newest;
  }

  set newest(generation: RouteGeneration) {
    this.#newest = generation;
  }

  /** The generation that was accepted last; undefined when that is the newest. */
  get fallback(): RouteGeneration | undefined {
    return this.#accepted === this.#newest ? undefined : this.#accepted;
  }

  /** What serves; undefined when nothing does. */
  get serving(): RouteGeneration | undefined {
    return this.#serving;
  }

  /** Why the newest generation, which is valid by itself, does not serve. */
  get conflict(): Problem | undefined {
    return this.#conflict;
  }

  get generations(): readonly RouteGeneration[] {
    return this.fallback === undefined ? [this.#newest] : [this.#newest, this.fallback];
  }

  /** Generations that do not serve, and not by a problem of theirs or for another route. */
  get waiting(): readonly RouteGeneration[] {
    if (this.#serving !== undefined) return [];
    return this.generations.filter(
      ({ host, compiled }) => host !== undefined && (!this.isAdmitted || compiled === undefined),
    );
  }

  /** Hosts that it asks for, admitted or not. */
  get hosts(): readonly string[] {
    return this.generations.flatMap(({ host }) => (host === undefined ? [] : [host]));
  }

  /**
   * Takes what was decided, and answers whether that is anything new. What is accepted is what to go
   * back to from then on.
   */
  settle(serving: RouteGeneration | undefined, conflict: Problem | undefined): boolean {
    const before = { serving: this.#serving, conflict: this.#conflict, accepted: this.#accepted };
    this.#serving = serving;
    this.#conflict = conflict;
    if (this.#serving === this.#newest) this.#accepted = this.#newest;
    return (
      this.#serving !== before.serving ||
      this.#conflict?.message !== before.conflict?.message ||
      this.#accepted !== before.accepted
    );
  }

  /** Takes what another process accepted last; the newest generation is settled anew. */
  adopt(accepted: RouteGeneration): void {
    this.#accepted = accepted;
  }

  /** Takes a newest generation that gets what the one before has got. */
  replace(newest: RouteGeneration): void {
    this.#newest = newest;
    this.#accepted = newest;
    this.#serving = newest;
  }
}

/** Times of Kubernetes sort as text; a route without one has not been stored yet. */
export function ageOf(resource: Pick<StoredRoute, 'metadata'>): string {
  return `${resource.metadata.creationTimestamp ?? '~'} ${resourceName(resource)}`;
}
