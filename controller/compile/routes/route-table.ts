import type { Route } from '../../../crds/types.ts';
import type { CompiledRoute, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { StoredRoute } from '../../kubernetes/stored-resources.ts';
import type { DirectoryEffect } from '../backends/service-directory.ts';
import type { ServiceLookup } from '../backends/service-lookup.ts';
import type { WaitingRoute } from '../compilation.ts';
import type { CompileResult } from '../compile-result.ts';
import { generationOf, isSameGeneration } from '../generation.ts';
import { guarded } from '../guarded.ts';
import type { Labels } from '../label-selector.ts';
import { namespaceOf } from '../resources.ts';
import { admits, type RouteAdmission } from '../route-admission.ts';
import type { RouteContext } from '../route-context.ts';
import { hasSameClaims } from './claims.ts';
import type { ReferableSecrets } from './client-secret.ts';
import type { HostOwner } from './host-holds.ts';
import type { Prior } from './read-prior.ts';
import { RouteDecisions, type HostTerms } from './route-decisions.ts';
import { ageOf, RouteEntry } from './route-entry.ts';
import { RouteGeneration, type CompileRoute } from './route-generation.ts';
import { RouteIndex } from './route-index.ts';
import { WildcardHolds } from './wildcard-holds.ts';

/** The part of the settings that applies to all routes. */
export interface RouteTerms {
  readonly context: RouteContext;
  readonly admission: RouteAdmission;
}

/** Options of a RouteTable. */
export interface RouteTableOptions {
  /** Validates a stored route. */
  readonly read: (route: StoredRoute) => CompileResult<Route>;
  readonly compileRoute: (route: Route, context: RouteContext) => CompileResult<CompiledRoute>;
  readonly directory: ServiceLookup;
  readonly secrets: ReferableSecrets;
  readonly labelsOf: (namespace: string) => Labels | undefined;
  /** Receives the owner of a host if another process has to know it; undefined: it need not. */
  readonly onHost: (host: string, record: HostOwner | undefined) => void;
}

/** The owners of hosts, and the holds of those without a route of their owner. */
export type Hosts = Pick<
  RouteDecisions,
  'nextExpiry' | 'setTime' | 'holders' | 'release' | 'releaseNamespaces' | 'adoptHosts'
>;

/**
 * All routes of a gateway, and which generation of each serves. Its cost depends only on the changes: a
 * route is compiled when it or its terms change, and decided together with competing routes.
 */
export class RouteTable {
  readonly #options: RouteTableOptions;
  #terms: RouteTerms;
  readonly #entries = new Map<string, RouteEntry>();
  readonly #index = new RouteIndex();
  readonly #decisions: RouteDecisions;
  readonly #wildcardHolds = new WildcardHolds({
    ownerOf: (host) => this.#decisions.ownerOf(host),
    routesOn: (host) => this.#index.onHost(host),
  });
  /** Names of routes that may have changed since `decide` was called. */
  #touched = new Set<string>();

  constructor(options: RouteTableOptions, terms: RouteTerms) {
    this.#options = options;
    this.#terms = terms;
    this.#decisions = new RouteDecisions(this.#index, hostTermsOf(terms), (host, record) => {
      options.onHost(host, record);
      this.#wildcardHolds.touch(host);
    });
  }

  get hosts(): Hosts {
    return this.#decisions;
  }

  /** What its routes are compiled with. */
  get context(): RouteContext {
    return this.#terms.context;
  }

  get(name: string): RouteEntry | undefined {
    return this.#entries.get(name);
  }

  /**
   * Returns the hosts and the generation of a route that waits for the settings, so that another process
   * can serve them later; undefined if it does not wait.
   *
   * Attack: a host that another namespace got meanwhile is left out, or the route would take it back.
   */
  waitingOf(entry: RouteEntry): WaitingRoute | undefined {
    const { waiting, fallback, namespace } = entry;
    if (waiting.length === 0) return undefined;
    const hosts = new Set(waiting.flatMap(({ host }) => host ?? []));
    const served = waiting.find((generation) => generation === fallback);
    return {
      hosts: [...hosts].filter(
        (host) => (this.#decisions.ownerOf(host)?.namespace ?? namespace) === namespace,
      ),
      ...(served && { served: { generation: served.number, spec: served.spec } }),
    };
  }

  /** Adds or changes a route. `prior` counts only for a route that is not in the table. */
  put(name: string, resource: StoredRoute, prior: Prior = {}): void {
    const entry = this.#entries.get(name);
    if (entry === undefined || !isSameObject(entry, resource)) {
      if (entry !== undefined) this.delete(name);
      this.#insert(name, resource, prior);
    } else if (isSameGeneration(entry.resource, resource)) {
      entry.updateResource(resource);
    } else {
      this.#renew(entry, resource);
    }
  }

  /** Removes a route, with everything known about it. */
  delete(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#decisions.remove(entry);
    this.#entries.delete(name);
    this.#touched.add(name);
  }

  /** Applies changed settings. */
  setTerms(terms: RouteTerms): void {
    const before = this.#terms;
    this.#terms = terms;
    this.#decisions.setTerms(hostTermsOf(terms));
    // Equal contexts give equal results, and most changes of the settings do not affect routes.
    if (JSON.stringify(before.context) !== JSON.stringify(terms.context)) this.#compileAll();
    this.reviewAdmission(this.#index.namespaces());
  }

  /** Checks again whether the routes of these namespaces are admitted. */
  reviewAdmission(namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      const isAdmitted = this.#admits(namespace);
      for (const entry of this.#index.inNamespace(namespace)) {
        if (entry.isAdmitted === isAdmitted) continue;
        entry.admit(isAdmitted);
        this.#decisions.change(entry);
      }
    }
  }

  /** Resolves references to changed objects of the directory. */
  resolveReferences({ services, permissions }: Omit<DirectoryEffect, 'targets'>): void {
    const references = [...services, ...permissions];
    const entries = new Set(
      references.flatMap((reference) => [...this.#index.referringTo(reference)]),
    );
    for (const entry of entries) {
      for (const generation of entry.generations) {
        if (generation.resolve(this.#options.directory)) this.#touched.add(entry.name);
      }
      this.#resolveSecrets(entry);
    }
  }

  /** `namespace/name` of the Secrets that routes refer to, in their newest and in their serving generation. */
  get secretNames(): Iterable<string> {
    return this.#index.secretNames();
  }

  /** Resolves references to changed Secrets. */
  resolveSecrets(names: Iterable<string>): void {
    const entries = [...names].flatMap((name) => [...this.#index.usingSecret(name)]);
    for (const entry of new Set(entries)) this.#resolveSecrets(entry);
  }

  #resolveSecrets(entry: RouteEntry): void {
    const changed = entry.generations.map((one) => one.resolveSecrets(this.#options.secrets));
    if (!changed.includes(true)) return;
    this.#touched.add(entry.name);
    // It may refer to others now, because a permission changed.
    this.#decisions.reindex(entry);
  }

  /**
   * Adopts what another process recorded in the statuses of routes: generations that were accepted
   * later than the ones known here, and the owners of hosts.
   */
  adopt(priors: ReadonlyMap<string, Prior>): void {
    const known = [...priors].flatMap(([name, prior]) => {
      const entry = this.#entries.get(name);
      return entry === undefined ? [] : [{ entry, prior }];
    });
    for (const { entry, prior } of known) {
      if (prior.host !== undefined) entry.adoptServedHost(prior.host);
    }
    for (const { entry, prior } of known) {
      if (prior.served !== undefined) this.#adoptServed(entry, prior.served);
    }
    for (const host of new Set(known.flatMap(({ prior }) => prior.host ?? []))) {
      this.#decisions.reviewOwner(host);
    }
    for (const { entry } of known) {
      if (!this.#decisions.isPending(entry)) this.#decisions.forgetServedHost(entry);
    }
  }

  /** Decides what serves. Returns the names of routes that may have changed. */
  decide(): ReadonlySet<string> {
    for (const { name } of this.#decisions.decide()) this.#touched.add(name);
    const touched = this.#touched;
    this.#touched = new Set();
    for (const name of touched) this.#wildcardHolds.setRoute(name, this.#entries.get(name));
    return touched;
  }

  /**
   * Returns the changed resources of held hosts, after `decide`; undefined: removed. They belong in the
   * publication of these decisions.
   */
  decideHeldHosts(): ReadonlyMap<string, SnapshotResource | undefined> {
    this.#wildcardHolds.setHolding(this.#terms.admission.hostHoldMs > 0);
    return this.#wildcardHolds.decide();
  }

  #insert(name: string, resource: StoredRoute, { served, host }: Prior): void {
    const entry = new RouteEntry({
      resource,
      newest: this.#compile(resource),
      accepted: served && this.#compile({ ...resource, spec: served.spec }, served.number),
      servedHost: host,
      isAdmitted: this.#admits(namespaceOf(resource)),
    });
    this.#entries.set(name, entry);
    this.#decisions.change(entry);
  }

  #renew(entry: RouteEntry, resource: StoredRoute): void {
    const newest = this.#compile(resource);
    const isDecided = entry.serving === entry.newest && !this.#decisions.isPending(entry);
    if (isDecided && hasSameClaims(newest.claims, entry.newest.claims)) {
      // This route and all others keep their claims.
      entry.replaceServing(resource, newest);
      this.#decisions.reindex(entry);
      this.#touched.add(entry.name);
      return;
    }
    entry.beginGeneration(resource, newest);
    this.#decisions.change(entry);
  }

  #adoptServed(entry: RouteEntry, { number, spec }: NonNullable<Prior['served']>): void {
    if (number <= (entry.fallback?.number ?? -1)) return;
    entry.adoptAccepted(this.#compile({ ...entry.resource, spec }, number));
    this.#decisions.change(entry);
  }

  #compile(resource: StoredRoute, number = generationOf(resource)): RouteGeneration {
    const route = guarded(() => this.#options.read(resource));
    const { context } = this.#terms;
    const generation = new RouteGeneration(
      { number, spec: resource.spec },
      route,
      this.#compileRoute(),
    );
    if (context.hasServices) generation.resolve(this.#options.directory);
    generation.resolveSecrets(this.#options.secrets);
    return generation;
  }

  #compileAll(): void {
    const compileRoute = this.#compileRoute();
    for (const entry of this.#entries.values()) {
      for (const generation of entry.generations) generation.compile(compileRoute);
      this.#decisions.change(entry);
    }
  }

  #compileRoute(): CompileRoute {
    const { context } = this.#terms;
    return (route) => this.#options.compileRoute(route, context);
  }

  #admits(namespace: string): boolean {
    return admits(this.#terms.admission, namespace, this.#options.labelsOf(namespace));
  }
}

function hostTermsOf({ admission, context }: RouteTerms): HostTerms {
  return {
    sharedHosts: admission.sharedHosts,
    isGoverned: context.missingSettings === undefined,
    hostHoldMs: admission.hostHoldMs,
    hostRules: admission.hostRules,
  };
}

/** Whether a route is not a different one that was created after the deletion. */
function isSameObject(entry: RouteEntry, resource: StoredRoute): boolean {
  return entry.resource.metadata.uid === resource.metadata.uid && entry.age === ageOf(resource);
}
