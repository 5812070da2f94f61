import type { Route } from '../../../crds/types.ts';
import type { DirectoryEffect } from '../backends/service-directory.ts';
import type { ServiceLookup } from '../backends/service-lookup.ts';
import type { StoredRoute } from '../../kubernetes/stored-resources.ts';
import type { Kept } from '../compilation.ts';
import { guarded } from '../guarded.ts';
import type { Labels } from '../label-selector.ts';
import { MultiMap } from '../multi-map.ts';
import type { CompileResult } from '../compile-result.ts';
import { admits, type RouteAdmission } from '../route-admission.ts';
import type { RouteContext } from '../route-context.ts';
import { Arbiter } from './arbiter.ts';
import { isSameClaim } from './claims.ts';
import { HostOwners } from './host-owners.ts';
import type { Prior } from './read-prior.ts';
import { ageOf, RouteEntry } from './route-entry.ts';
import { RouteGeneration } from './route-generation.ts';

/** What the routes are compiled under. */
export interface RouteTerms {
  readonly context: RouteContext;
  readonly admission: RouteAdmission;
}

/** What the table is made with. */
interface RouteTableParts {
  /** Makes a route of one that nobody has looked at. */
  readonly read: (route: StoredRoute) => CompileResult<Route>;
  readonly directory: ServiceLookup;
  readonly labelsOf: (namespace: string) => Labels | undefined;
}

/**
 * All routes of a gateway, and which generation of each serves. Its work follows the changes: a route
 * is compiled when it or its terms change, and settled with those that ask for the same.
 */
export class RouteTable {
  readonly #parts: RouteTableParts;
  #terms: RouteTerms;
  readonly #entries = new Map<string, RouteEntry>();
  readonly #links = new Map<RouteEntry, Links>();
  readonly #onHost = new MultiMap<string, RouteEntry>();
  readonly #inNamespace = new MultiMap<string, RouteEntry>();
  readonly #referringTo = new MultiMap<string, RouteEntry>();
  readonly #owners = new HostOwners();
  readonly #arbiter = new Arbiter((host) => this.#ownerOf(host));
  #hostsToSettle = new Set<string>();
  #entriesToSettle = new Set<RouteEntry>();
  #touched = new Set<string>();
  #compilations = 0;

  constructor(parts: RouteTableParts, terms: RouteTerms) {
    this.#parts = parts;
    this.#terms = terms;
  }

  get(name: string): RouteEntry | undefined {
    return this.#entries.get(name);
  }

  /**
   * What a route goes on with once it may serve again, so that another process can, too; undefined
   * when there is nothing that it waits for.
   *
   * Attack: a host that another namespace has got meanwhile is not kept, or it would be taken back.
   */
  keptBy(entry: RouteEntry): Kept | undefined {
    const { waiting, fallback, namespace } = entry;
    if (waiting.length === 0) return undefined;
    const hosts = new Set(waiting.flatMap(({ host }) => host ?? []));
    const served = waiting.find((generation) => generation === fallback);
    return {
      hosts: [...hosts].filter((host) => (this.#ownerOf(host) ?? namespace) === namespace),
      ...(served && { served: { generation: served.number, spec: served.spec } }),
    };
  }

  /** How often it was decided what serves of a route. */
  get decisions(): number {
    return this.#arbiter.decisions;
  }

  /** How often a generation of a route was compiled. */
  get compilations(): number {
    return this.#compilations;
  }

  /** Takes a route; `prior` is read when it was not there. */
  put(name: string, resource: StoredRoute, prior: Prior = {}): void {
    const entry = this.#entries.get(name);
    if (entry === undefined || !isSameObject(entry, resource)) {
      if (entry !== undefined) this.delete(name);
      this.#insert(name, resource, prior);
      return;
    }
    const isSame = isSameGeneration(entry.resource, resource);
    entry.resource = resource;
    if (!isSame) this.#renew(entry);
  }

  /** Takes a route away, with all that is known of it. */
  delete(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    for (const host of this.#relink(entry, NO_LINKS)) this.#hostsToSettle.add(host);
    this.#links.delete(entry);
    this.#arbiter.remove(entry);
    this.#entries.delete(name);
    this.#inNamespace.delete(entry.namespace, entry);
    this.#entriesToSettle.delete(entry);
    this.#touched.add(name);
  }

  /** Takes what the settings say for all routes. */
  setTerms(terms: RouteTerms): void {
    const before = this.#terms;
    this.#terms = terms;
    const isShared = [before, terms].map(({ admission }) => admission.sharedHosts);
    for (const host of isShared.flatMap((hosts) => [...hosts])) {
      if (!isShared.every((hosts) => hosts.has(host))) this.#settleAnew(host);
    }
    // Equal contexts compile a route equally: most changes to the settings are none to the routes.
    if (JSON.stringify(before.context) !== JSON.stringify(terms.context)) this.#compileAll();
    this.admitAgain(this.#inNamespace.keys());
  }

  /** Looks anew at whether the routes of namespaces are admitted. */
  admitAgain(namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      const isAdmitted = this.#admits(namespace);
      for (const entry of this.#inNamespace.get(namespace)) {
        if (entry.isAdmitted === isAdmitted) continue;
        this.#change(entry, () => (entry.isAdmitted = isAdmitted));
      }
    }
  }

  /** Resolves references that may lead elsewhere. */
  resolveAgain({ services, permissions }: Omit<DirectoryEffect, 'targets'>): void {
    const places = [...services, ...permissions];
    const entries = new Set(places.flatMap((place) => [...this.#referringTo.get(place)]));
    for (const entry of entries) {
      for (const generation of entry.generations) {
        if (generation.resolve(this.#parts.directory)) this.#touched.add(entry.name);
      }
    }
  }

  /**
   * Takes what another process made of routes, as their statuses tell: generations that were accepted
   * later than the ones known here, and whose the hosts are.
   */
  adopt(priors: ReadonlyMap<string, Prior>): void {
    const known = [...priors].flatMap(([name, prior]) => {
      const entry = this.#entries.get(name);
      return entry === undefined ? [] : [{ entry, prior }];
    });
    for (const { entry, prior } of known) entry.servedHost = prior.host ?? entry.servedHost;
    for (const { entry, prior } of known) {
      if (prior.served !== undefined) this.#adoptServed(entry, prior.served);
    }
    for (const host of new Set(known.flatMap(({ prior }) => prior.host ?? []))) {
      if (this.#owners.doubt(host, this.#onHost.get(host))) this.#settleAnew(host);
    }
    for (const { entry } of known) {
      if (!this.#entriesToSettle.has(entry)) this.#forgetServedHost(entry);
    }
  }

  /** Decides what serves. Answers with the names of routes of which something may have changed. */
  settle(): ReadonlySet<string> {
    while (this.#hostsToSettle.size > 0 || this.#entriesToSettle.size > 0) this.#settleOnce();
    const touched = this.#touched;
    this.#touched = new Set();
    return touched;
  }

  /** What was accepted may give up a host that it served before: then there is more to settle. */
  #settleOnce(): void {
    const entries = this.#entriesToSettle;
    this.#entriesToSettle = new Set();
    const changed = new Set(entries);
    for (const entry of this.#settleOwners()) {
      entries.add(entry);
      // What it keeps may be less than before, although nothing of it serves as before.
      this.#touched.add(entry.name);
    }
    for (const entry of this.#arbiter.settle(entries)) changed.add(entry);
    for (const entry of changed) {
      this.#forgetServedHost(entry);
      this.#touched.add(entry.name);
      const now = new Set(entry.hosts);
      for (const host of this.#relink(entry)) if (!now.has(host)) this.#hostsToSettle.add(host);
    }
  }

  /** Answers with the routes that ask for hosts that may be used by others than before. */
  #settleOwners(): readonly RouteEntry[] {
    const hosts = this.#hostsToSettle;
    this.#hostsToSettle = new Set();
    return [...hosts].flatMap((host) => {
      const entries = this.#onHost.get(host);
      return this.#owners.settle(host, entries) ? [...entries] : [];
    });
  }

  #insert(name: string, resource: StoredRoute, { served, host }: Prior): void {
    const newest = this.#compile(resource);
    const accepted =
      served === undefined
        ? undefined
        : this.#compile({ ...resource, spec: served.spec }, served.number);
    const entry = new RouteEntry(resource, newest, accepted);
    this.#entries.set(name, entry);
    this.#inNamespace.add(entry.namespace, entry);
    this.#change(entry, () => {
      entry.servedHost = host;
      entry.isAdmitted = this.#admits(entry.namespace);
    });
  }

  #renew(entry: RouteEntry): void {
    const newest = this.#compile(entry.resource);
    const isSettled = entry.serving === entry.newest && !this.#entriesToSettle.has(entry);
    if (isSettled && isSameClaim(newest.claims, entry.newest.claims)) {
      // It gets what it has, and so does everybody else.
      entry.replace(newest);
      this.#relink(entry);
      this.#touched.add(entry.name);
      return;
    }
    this.#change(entry, () => (entry.newest = newest));
  }

  #compile(resource: StoredRoute, number = generationOf(resource)): RouteGeneration {
    this.#compilations += 1;
    const route = guarded(() => this.#parts.read(resource));
    const { context } = this.#terms;
    const generation = new RouteGeneration({ number, spec: resource.spec }, route, context);
    if (context.hasServices) generation.resolve(this.#parts.directory);
    return generation;
  }

  #adoptServed(entry: RouteEntry, { number, spec }: NonNullable<Prior['served']>): void {
    if (number <= (entry.fallback?.number ?? -1)) return;
    const generation = this.#compile({ ...entry.resource, spec }, number);
    this.#change(entry, () => entry.adopt(generation));
  }

  /** It is settled whose the host is that it served, unless nobody knows who may serve. */
  #forgetServedHost(entry: RouteEntry): void {
    const isGoverned = this.#terms.context.missingSettings === undefined;
    if (entry.isAdmitted && isGoverned) entry.servedHost = undefined;
  }

  /** The only namespace that may use a host; undefined: all may. */
  #ownerOf(host: string): string | undefined {
    return this.#terms.admission.sharedHosts.has(host) ? undefined : this.#owners.get(host);
  }

  /** Settles a host with all that ask for it. */
  #settleAnew(host: string): void {
    this.#hostsToSettle.add(host);
    for (const entry of this.#onHost.get(host)) this.#entriesToSettle.add(entry);
  }

  #compileAll(): void {
    for (const entry of this.#entries.values()) {
      this.#change(entry, () => {
        for (const generation of entry.generations) {
          this.#compilations += 1;
          generation.compile(this.#terms.context);
        }
      });
    }
  }

  #admits(namespace: string): boolean {
    return admits(this.#terms.admission, namespace, this.#parts.labelsOf(namespace));
  }

  /** Changes what an entry asks for. */
  #change(entry: RouteEntry, change: () => void): void {
    change();
    for (const host of this.#relink(entry)) this.#hostsToSettle.add(host);
    this.#entriesToSettle.add(entry);
  }

  /** Brings the indexes up to date. Answers with the hosts that an entry asks or asked for. */
  #relink(entry: RouteEntry, now: Links = linksOf(entry)): ReadonlySet<string> {
    const before = this.#links.get(entry) ?? NO_LINKS;
    for (const host of before.hosts) this.#onHost.delete(host, entry);
    for (const place of before.places) this.#referringTo.delete(place, entry);
    for (const host of now.hosts) this.#onHost.add(host, entry);
    for (const place of now.places) this.#referringTo.add(place, entry);
    this.#links.set(entry, now);
    this.#arbiter.index(entry);
    return new Set([...before.hosts, ...now.hosts]);
  }
}

/** Where an entry is in the indexes. */
interface Links {
  readonly hosts: ReadonlySet<string>;
  /** Services that it refers to, and namespaces that must permit it. */
  readonly places: ReadonlySet<string>;
}

const NO_LINKS: Links = { hosts: new Set(), places: new Set() };

function linksOf(entry: RouteEntry): Links {
  const refs = entry.generations.flatMap((generation) => generation.refs);
  const foreign = refs.filter(({ namespace }) => namespace !== entry.namespace);
  return {
    hosts: new Set(entry.hosts),
    places: new Set([
      ...refs.map(({ service }) => service),
      ...foreign.map(({ namespace }) => namespace),
    ]),
  };
}

/** One that was deleted and made anew is another object, of which nothing is known. */
function isSameObject(entry: RouteEntry, resource: StoredRoute): boolean {
  return entry.resource.metadata.uid === resource.metadata.uid && entry.age === ageOf(resource);
}

/** Status and labels change without a generation. */
function isSameGeneration(before: StoredRoute, now: StoredRoute): boolean {
  const { generation } = now.metadata;
  return generation !== undefined && generation === before.metadata.generation;
}

function generationOf({ metadata }: StoredRoute): number {
  return metadata.generation ?? 0;
}
