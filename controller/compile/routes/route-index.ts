import { MultiMap } from '../multi-map.ts';
import type { RouteEntry } from './route-entry.ts';

/** The keys under which a route is found. */
interface Links {
  readonly hosts: ReadonlySet<string>;
  /** Services that it refers to, and other namespaces that must permit this. */
  readonly references: ReadonlySet<string>;
  /** Secrets that it refers to. */
  readonly secrets: ReadonlySet<string>;
}

const NO_LINKS: Links = { hosts: new Set(), references: new Set(), secrets: new Set() };

/** Finds routes by namespace, by the hosts that they ask for, and by what they refer to. */
export class RouteIndex {
  readonly #links = new Map<RouteEntry, Links>();
  readonly #inNamespace = new MultiMap<string, RouteEntry>();
  readonly #onHost = new MultiMap<string, RouteEntry>();
  readonly #referringTo = new MultiMap<string, RouteEntry>();
  readonly #usingSecret = new MultiMap<string, RouteEntry>();

  namespaces(): Iterable<string> {
    return this.#inNamespace.keys();
  }

  inNamespace(namespace: string): ReadonlySet<RouteEntry> {
    return this.#inNamespace.get(namespace);
  }

  onHost(host: string): ReadonlySet<RouteEntry> {
    return this.#onHost.get(host);
  }

  /** Routes that refer to a Service, or need the permission of a namespace. */
  referringTo(reference: string): ReadonlySet<RouteEntry> {
    return this.#referringTo.get(reference);
  }

  /** `namespace/name` of the Secrets that routes refer to. */
  secretNames(): Iterable<string> {
    return this.#usingSecret.keys();
  }

  usingSecret(name: string): ReadonlySet<RouteEntry> {
    return this.#usingSecret.get(name);
  }

  /** Adds or updates a route. Returns the hosts that it asked for before and asks for now. */
  update(entry: RouteEntry): ReadonlySet<string> {
    this.#inNamespace.add(entry.namespace, entry);
    return this.#relink(entry, linksOf(entry));
  }

  /** Returns the hosts that the route asked for. */
  remove(entry: RouteEntry): ReadonlySet<string> {
    const hosts = this.#relink(entry, NO_LINKS);
    this.#links.delete(entry);
    this.#inNamespace.delete(entry.namespace, entry);
    return hosts;
  }

  #relink(entry: RouteEntry, now: Links): ReadonlySet<string> {
    const before = this.#links.get(entry) ?? NO_LINKS;
    for (const host of before.hosts) this.#onHost.delete(host, entry);
    for (const reference of before.references) this.#referringTo.delete(reference, entry);
    for (const secret of before.secrets) this.#usingSecret.delete(secret, entry);
    for (const host of now.hosts) this.#onHost.add(host, entry);
    for (const reference of now.references) this.#referringTo.add(reference, entry);
    for (const secret of now.secrets) this.#usingSecret.add(secret, entry);
    this.#links.set(entry, now);
    return new Set([...before.hosts, ...now.hosts]);
  }
}

function linksOf(entry: RouteEntry): Links {
  const refs = entry.generations.flatMap((generation) => generation.refs);
  const secrets = entry.generations.flatMap((generation) => generation.secrets ?? []);
  const foreign = refs.filter(({ namespace }) => namespace !== entry.namespace);
  return {
    hosts: new Set(entry.hosts),
    references: new Set([
      ...refs.map(({ service }) => service),
      ...foreign.map(({ namespace }) => namespace),
      ...secrets.flatMap(({ foreignNamespaces }) => foreignNamespaces),
    ]),
    secrets: new Set(secrets.flatMap(({ names }) => names)),
  };
}
