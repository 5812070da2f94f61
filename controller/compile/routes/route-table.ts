import type { Route } from '../../../crds/types.ts';
import type { DirectoryEffect, ServiceDirectory } from '../backends/service-directory.ts';
import type { UnvalidatedRoute } from '../compilation.ts';
import type { Labels } from '../label-selector.ts';
import { MultiMap } from '../multi-map.ts';
import type { Outcome } from '../outcome.ts';
import { admits, type RouteAdmission } from '../route-admission.ts';
import type { RouteContext } from '../route-context.ts';
import { HostOwners } from './host-owners.ts';
import type { Prior } from './read-prior.ts';
import { ageOf, RouteEntry } from './route-entry.ts';
import { RouteGeneration } from './route-generation.ts';
import { settleConflicts } from './settle-conflicts.ts';

/** What the routes are compiled under. */
export interface RouteTerms {
  readonly context: RouteContext;
  readonly admission: RouteAdmission;
}

/** What the table is made with. */
interface RouteTableParts {
  /** Makes a route of one that nobody has looked at. */
  readonly read: (route: UnvalidatedRoute) => Outcome<Route>;
  readonly directory: ServiceDirectory;
  readonly labelsOf: (namespace: string) => Labels | undefined;
}

/**
 * All routes of a gateway, and which generation of each serves. Its work follows the changes: a route
 * is compiled when it or its terms change, and settled with those that ask for the same hosts.
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
  readonly #hostsToSettle = new Set<string>();
  readonly #entriesToSettle = new Set<RouteEntry>();
  #touched = new Set<string>();
  #compilations = 0;

  constructor(parts: RouteTableParts, terms: RouteTerms) {
    this.#parts = parts;
    this.#terms = terms;
  }

  get(name: string): RouteEntry | undefined {
    return this.#entries.get(name);
  }

  values(): IterableIterator<RouteEntry> {
    return this.#entries.values();
  }

  /** How often a generation of a route was compiled. */
  get compilations(): number {
    return this.#compilations;
  }

  /** Takes a route; `prior` is read when it was not there. */
  put(name: string, resource: UnvalidatedRoute, prior: Prior = {}): void {
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
      if (isShared.every((hosts) => hosts.has(host))) continue;
      this.#hostsToSettle.add(host);
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
  resolveAgain({ services, permissions }: Omit<DirectoryEffect, 'endpoints'>): void {
    const places = [...services, ...permissions];
    const entries = new Set(places.flatMap((place) => [...this.#referringTo.get(place)]));
    for (const entry of entries) {
      for (const generation of entry.generations) {
        if (generation.resolve(this.#parts.directory)) this.#touched.add(entry.name);
      }
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
    const entries = this.#connected();
    const owners = this.#ownersOf(entries);
    const settlement = settleConflicts(
      [...entries].filter(({ isAdmitted }) => isAdmitted),
      (host) => owners.get(host),
    );
    const changed = new Set(this.#entriesToSettle);
    this.#hostsToSettle.clear();
    this.#entriesToSettle.clear();
    for (const entry of entries) if (entry.settle(settlement)) changed.add(entry);
    for (const entry of changed) {
      // Whose host that is has just been settled.
      entry.servedHost = undefined;
      this.#touched.add(entry.name);
      const now = new Set(entry.hosts);
      for (const host of this.#relink(entry)) if (!now.has(host)) this.#hostsToSettle.add(host);
    }
  }

  /** Everything that what changed may decide about: routes with two hosts connect those. */
  #connected(): ReadonlySet<RouteEntry> {
    const entries = new Set(this.#entriesToSettle);
    const hosts = this.#hostsOf(entries);
    // A set yields what is added to it while it is walked through.
    for (const host of hosts) {
      for (const entry of this.#onHost.get(host)) {
        entries.add(entry);
        for (const other of this.#links.get(entry)?.hosts ?? []) hosts.add(other);
      }
    }
    return entries;
  }

  #ownersOf(entries: ReadonlySet<RouteEntry>): ReadonlyMap<string, string | undefined> {
    const { sharedHosts } = this.#terms.admission;
    return new Map(
      [...this.#hostsOf(entries)]
        .filter((host) => !sharedHosts.has(host))
        .map((host) => [host, this.#owners.settle(host, this.#onHost.get(host))]),
    );
  }

  /** Hosts to settle, and those that entries ask for. */
  #hostsOf(entries: ReadonlySet<RouteEntry>): Set<string> {
    const hosts = new Set(this.#hostsToSettle);
    for (const entry of entries) {
      for (const host of this.#links.get(entry)?.hosts ?? []) hosts.add(host);
    }
    return hosts;
  }

  #insert(name: string, resource: UnvalidatedRoute, { served, host }: Prior): void {
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
    if (isSettled && newest.claim !== undefined && newest.claim === entry.newest.claim) {
      // It gets what it has, and so does everybody else.
      entry.replace(newest);
      this.#relink(entry);
      this.#touched.add(entry.name);
      return;
    }
    this.#change(entry, () => (entry.newest = newest));
  }

  #compile(resource: UnvalidatedRoute, number = generationOf(resource)): RouteGeneration {
    this.#compilations += 1;
    const route = this.#parts.read(resource);
    const { context } = this.#terms;
    const generation = new RouteGeneration({ number, spec: resource.spec }, route, context);
    if (context.hasServices) generation.resolve(this.#parts.directory);
    return generation;
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
function isSameObject(entry: RouteEntry, resource: UnvalidatedRoute): boolean {
  return entry.resource.metadata.uid === resource.metadata.uid && entry.age === ageOf(resource);
}

/** Status and labels change without a generation. */
function isSameGeneration(before: UnvalidatedRoute, now: UnvalidatedRoute): boolean {
  const { generation } = now.metadata;
  return generation !== undefined && generation === before.metadata.generation;
}

function generationOf({ metadata }: UnvalidatedRoute): number {
  return metadata.generation ?? 0;
}
