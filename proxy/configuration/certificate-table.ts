import type {
  CompiledCertificate,
  CompiledResource,
  CompiledRoute,
} from '../../shared/snapshot/snapshot.ts';
import { isForHost, leafCertificate } from '../crypto/leaf-certificate.ts';
import { heldHostsAfter, NO_HELD_HOSTS, type HeldHosts } from './held-hosts.ts';
import type { ResourceChange } from './snapshot-changes.ts';

/** The routes of one host that clients reach with TLS. */
interface HostRoutes {
  readonly byName: ReadonlyMap<string, CompiledRoute>;
  /** By the namespaces of the routes, with certificates or without. */
  readonly byNamespace: ReadonlyMap<string, readonly NamedCertificate[]>;
}

/** A certificate that a route names. */
interface NamedCertificate {
  readonly name: string;
  /** Of the route. */
  readonly port: number;
}

/** Parts of a table. */
interface TableParts {
  readonly certificates: ReadonlyMap<string, CompiledCertificate>;
  /** By host of `from`. */
  readonly ofHosts: ReadonlyMap<string, HostRoutes>;
  readonly held: HeldHosts;
  readonly defaultName: string | undefined;
}

/**
 * Finds the certificates for a server name, at a cost that does not grow with the number of hosts.
 * Immutable: a change makes a new table.
 */
export class CertificateTable {
  readonly #parts: TableParts;

  private constructor(parts: TableParts) {
    this.#parts = parts;
  }

  static readonly EMPTY = new CertificateTable({
    certificates: new Map(),
    ofHosts: new Map(),
    held: NO_HELD_HOSTS,
    defaultName: undefined,
  });

  get size(): number {
    return this.#parts.certificates.size;
  }

  /** Returns every certificate, in no order. */
  all(): Iterable<CompiledCertificate> {
    return this.#parts.certificates.values();
  }

  /**
   * Returns the certificates for the name of a server, one for each type of key: those of the routes of this
   * host that cover it, then those of a wildcard host, the longest first, then the default one. Empty if
   * there is none. Without a name, only the default one is left.
   *
   * Attack: with a wildcard and a certificate that nobody trusts, a namespace would keep clients from the hosts
   * of others that rely on the default one. So a route of a wildcard counts only if it would serve the name:
   * where others have routes for it, or hold it, that of their own namespace does.
   */
  find(serverName: string | undefined): readonly CompiledCertificate[] {
    const found = serverName === undefined ? [] : this.#ofRoutes(serverName);
    if (found.length > 0) return lastOfEachType(found);
    const fallback = this.#parts.certificates.get(this.#parts.defaultName ?? '');
    return fallback === undefined ? [] : [fallback];
  }

  /** Returns the table after these changes, with the default certificate of the settings. */
  with(changes: readonly ResourceChange[], defaultName: string | undefined): CertificateTable {
    const before = this.#parts;
    const certificates = certificatesAfter(before.certificates, changes);
    const ofHosts = hostsAfter(before.ofHosts, changes);
    const held = heldHostsAfter(before.held, changes);
    const isSame =
      certificates === before.certificates &&
      ofHosts === before.ofHosts &&
      held === before.held &&
      defaultName === before.defaultName;
    return isSame ? this : new CertificateTable({ certificates, ofHosts, held, defaultName });
  }

  #ofRoutes(serverName: string): readonly CompiledCertificate[] {
    const { certificates, ofHosts, held } = this.#parts;
    let owners: ReadonlySet<string> | undefined;
    const heldPorts = new Set<number>();
    for (const host of hostsOf(serverName)) {
      const routes = ofHosts.get(host);
      owners ??= routes && new Set(routes.byNamespace.keys());
      const found = [...(owners ?? [])]
        .flatMap((namespace) => routes?.byNamespace.get(namespace) ?? [])
        .filter(({ port }) => !heldPorts.has(port))
        .slice(0, MAX_OF_HOST)
        .flatMap(({ name }) => certificates.get(name) ?? [])
        .filter((certificate) => isForHost(leafCertificate(certificate), serverName));
      if (found.length > 0) return found;
      for (const port of held.get(host) ?? []) heldPorts.add(port);
    }
    return [];
  }
}

/** Yields a host as in `from`, then the wildcards that serve it, the longest first. */
function* hostsOf(serverName: string): Generator<string> {
  yield serverName;
  for (let dot = serverName.indexOf('.'); dot !== -1; dot = serverName.indexOf('.', dot + 1)) {
    yield `*${serverName.slice(dot)}`;
  }
}

/** TLS presents one certificate for each type of key: of several, that which expires last. */
function lastOfEachType(found: readonly CompiledCertificate[]): readonly CompiledCertificate[] {
  const byType = new Map<string | undefined, CompiledCertificate>();
  for (const certificate of found) {
    const type = leafCertificate(certificate).publicKey.asymmetricKeyType;
    const other = byType.get(type);
    if (other === undefined || other.notAfter < certificate.notAfter) {
      byType.set(type, certificate);
    }
  }
  return [...byType.values()];
}

function certificatesAfter(
  before: TableParts['certificates'],
  changes: readonly ResourceChange[],
): TableParts['certificates'] {
  let after: Map<string, CompiledCertificate> | undefined;
  for (const change of changes) {
    const removed = change.before?.value;
    const added = change.after?.value;
    if (removed?.kind === 'certificate') (after ??= new Map(before)).delete(removed.name);
    if (added?.kind === 'certificate') (after ??= new Map(before)).set(added.name, added);
  }
  return after ?? before;
}

function hostsAfter(
  before: TableParts['ofHosts'],
  changes: readonly ResourceChange[],
): TableParts['ofHosts'] {
  const changed = new Map<string, Map<string, CompiledRoute>>();
  const routesOf = ({ host }: CompiledRoute): Map<string, CompiledRoute> => {
    const routes = changed.get(host) ?? new Map(before.get(host)?.byName);
    changed.set(host, routes);
    return routes;
  };
  for (const change of changes) {
    const [removed, added] = [tlsRoute(change.before?.value), tlsRoute(change.after?.value)];
    if (removed !== undefined) routesOf(removed).delete(removed.name);
    if (added !== undefined) routesOf(added).set(added.name, added);
  }
  if (changed.size === 0) return before;
  const after = new Map(before);
  for (const [host, routes] of changed) {
    if (routes.size === 0) after.delete(host);
    else after.set(host, { byName: routes, byNamespace: byNamespace(routes) });
  }
  return after;
}

function tlsRoute(value: CompiledResource | undefined): CompiledRoute | undefined {
  return value?.kind === 'route' && value.scheme === 'https' ? value : undefined;
}

/** Attack: with a certificate for each of thousands of routes, a handshake would look at all of them. */
const MAX_OF_HOST = 64;

function byNamespace(routes: HostRoutes['byName']): HostRoutes['byNamespace'] {
  const found = new Map<string, Map<string, NamedCertificate>>();
  for (const { name: route, port, certificates = [] } of routes.values()) {
    const namespace = route.slice(0, route.indexOf('/'));
    const named = found.get(namespace) ?? new Map<string, NamedCertificate>();
    found.set(namespace, named);
    for (const name of certificates) {
      if (named.size < MAX_OF_HOST) named.set(`${name}:${String(port)}`, { name, port });
    }
  }
  return new Map([...found].map(([namespace, named]) => [namespace, [...named.values()]]));
}
