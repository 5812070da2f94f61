import type { StoredRoute } from '../../kubernetes/stored-resources.ts';
import type { Problem } from '../../validate/problem.ts';
import { namespaceOf, resourceName } from '../resources.ts';
import type { RouteGeneration } from './route-generation.ts';

/** The decision which generation of a route serves. */
export type RouteDecision =
  /** The newest generation serves. */
  | { readonly kind: 'accepted'; readonly serving: RouteGeneration }
  /** The generation that was accepted last serves. */
  | {
      readonly kind: 'fallback';
      readonly serving: RouteGeneration;
      readonly conflict: Problem | undefined;
    }
  /** Nothing serves. */
  | { readonly kind: 'rejected'; readonly conflict: Problem | undefined };

/** Options of a RouteEntry. */
export interface RouteEntryOptions {
  readonly resource: StoredRoute;
  readonly newest: RouteGeneration;
  /** The generation that another process accepted last. */
  readonly accepted: RouteGeneration | undefined;
  /** The host that another process served. */
  readonly servedHost: string | undefined;
  readonly isAdmitted: boolean;
}

/** A route, with the generations that may serve and the decision which of them does. */
export class RouteEntry {
  readonly name: string;
  readonly namespace: string;
  /** Sorts by age, then by namespace and name. */
  readonly age: string;
  #resource: StoredRoute;
  #newest: RouteGeneration;
  #accepted: RouteGeneration | undefined;
  #servedHost: string | undefined;
  #isAdmitted: boolean;
  #decision: RouteDecision = { kind: 'rejected', conflict: undefined };

  constructor({ resource, newest, accepted, servedHost, isAdmitted }: RouteEntryOptions) {
    this.name = resourceName(resource);
    this.namespace = namespaceOf(resource);
    this.age = ageOf(resource);
    this.#resource = resource;
    this.#newest = newest;
    this.#accepted = accepted;
    this.#servedHost = servedHost;
    this.#isAdmitted = isAdmitted;
  }

  /** The newest generation, as it was stored last. */
  get resource(): StoredRoute {
    return this.#resource;
  }

  get newest(): RouteGeneration {
    return this.#newest;
  }

  /** Whether the gateway admits routes of its namespace. */
  get isAdmitted(): boolean {
    return this.#isAdmitted;
  }

  /** The host that it served in another process, until the owner of the host is decided here. */
  get servedHost(): string | undefined {
    return this.#servedHost;
  }

  /** The generation that was accepted last; undefined if it is the newest. */
  get fallback(): RouteGeneration | undefined {
    return this.#accepted === this.#newest ? undefined : this.#accepted;
  }

  /** The generation that serves. */
  get serving(): RouteGeneration | undefined {
    return this.#decision.kind === 'rejected' ? undefined : this.#decision.serving;
  }

  /** The reason why the newest generation does not serve although it is valid. */
  get conflict(): Problem | undefined {
    return this.#decision.kind === 'accepted' ? undefined : this.#decision.conflict;
  }

  get generations(): readonly RouteGeneration[] {
    return this.fallback === undefined ? [this.#newest] : [this.#newest, this.fallback];
  }

  /** Generations that only the settings keep from serving. */
  get waiting(): readonly RouteGeneration[] {
    if (this.serving !== undefined) return [];
    return this.generations.filter(
      ({ host, compiled }) => host !== undefined && (!this.#isAdmitted || compiled === undefined),
    );
  }

  /** The hosts that it asks for, admitted or not. */
  get hosts(): readonly string[] {
    return this.generations.flatMap(({ host }) => (host === undefined ? [] : [host]));
  }

  /** Records the stored route after a change that made no new generation. */
  updateResource(resource: StoredRoute): void {
    this.#resource = resource;
  }

  /** Begins a generation, which serves only once that is decided. */
  beginGeneration(resource: StoredRoute, newest: RouteGeneration): void {
    this.#resource = resource;
    this.#newest = newest;
  }

  /** Begins a generation that replaces the serving one at once. */
  replaceServing(resource: StoredRoute, newest: RouteGeneration): void {
    this.beginGeneration(resource, newest);
    this.#accepted = newest;
    this.#decision = { kind: 'accepted', serving: newest };
  }

  admit(isAdmitted: boolean): void {
    this.#isAdmitted = isAdmitted;
  }

  /** Sets the generation that another process accepted last. */
  adoptAccepted(accepted: RouteGeneration): void {
    this.#accepted = accepted;
  }

  /** Sets the host that it served in another process. */
  adoptServedHost(host: string): void {
    this.#servedHost = host;
  }

  forgetServedHost(): void {
    this.#servedHost = undefined;
  }

  /** Records a decision. Returns whether it differs from the previous one. */
  decide(decision: RouteDecision): boolean {
    const { serving, conflict } = this;
    const accepted = this.#accepted;
    this.#decision = decision;
    if (decision.kind === 'accepted') this.#accepted = decision.serving;
    return (
      this.serving !== serving ||
      this.conflict?.message !== conflict?.message ||
      this.#accepted !== accepted
    );
  }
}

/** Returns a text that sorts by age. A route without a time is not stored yet, so it is the youngest. */
export function ageOf(resource: Pick<StoredRoute, 'metadata'>): string {
  return `${resource.metadata.creationTimestamp ?? '~'} ${resourceName(resource)}`;
}
