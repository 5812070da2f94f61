import type { CompiledCertificate, CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { isForHost, leafCertificate } from '../crypto/leaf-certificate.ts';
import { heldHostsAfter, NO_HELD_HOSTS, type HeldHosts } from './held-hosts.ts';
import type { ResourceChange } from './snapshot-changes.ts';

/** The certificates of the routes of one host. */
interface HostCertificates {
  /** Names of certificates, by the name of the route. */
  readonly byRoute: ReadonlyMap<string, readonly string[]>;
  readonly names: readonly string[];
  /** Namespaces of the routes, with certificates or without. */
  readonly namespaces: ReadonlySet<string>;
}

/** Parts of a table. */
interface TableParts {
  readonly certificates: ReadonlyMap<string, CompiledCertificate>;
  /** By host of `from`. */
  readonly ofHosts: ReadonlyMap<string, HostCertificates>;
  readonly held: HeldHosts;
  readonly defaultName: string | undefined;
}

/** Owners of a held host, for which no wildcard counts. */
const NOBODY: ReadonlySet<string> = new Set();

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
   * of others that rely on the default one. So wildcards count for hosts of their own namespaces, and for names
   * without routes that are not held.
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
    for (const host of hostsOf(serverName)) {
      const { names = [], namespaces } = ofHosts.get(host) ?? {};
      owners ??= namespaces ?? (held.has(host) ? NOBODY : undefined);
      if (namespaces === undefined || !hasCommon(owners, namespaces)) continue;
      const found = names
        .flatMap((name) => certificates.get(name) ?? [])
        .filter((certificate) => isForHost(leafCertificate(certificate), serverName));
      if (found.length > 0) return found;
    }
    return [];
  }
}

function hasCommon(one: ReadonlySet<string> | undefined, other: ReadonlySet<string>): boolean {
  return [...(one ?? [])].some((name) => other.has(name));
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
  const changed = new Map<string, Map<string, readonly string[]>>();
  const namesOf = ({ host }: CompiledRoute): Map<string, readonly string[]> => {
    const names = changed.get(host) ?? new Map(before.get(host)?.byRoute);
    changed.set(host, names);
    return names;
  };
  for (const change of changes) {
    const removed = change.before?.value;
    const added = change.after?.value;
    if (removed?.kind === 'route') namesOf(removed).delete(removed.name);
    if (added?.kind === 'route') namesOf(added).set(added.name, added.certificates ?? []);
  }
  if (changed.size === 0) return before;
  const after = new Map(before);
  for (const [host, byRoute] of changed) {
    if (byRoute.size === 0) after.delete(host);
    else after.set(host, ofRoutes(byRoute));
  }
  return after;
}

/** Attack: with a certificate for each of thousands of routes, a handshake would look at all of them. */
const MAX_OF_HOST = 64;

function ofRoutes(byRoute: HostCertificates['byRoute']): HostCertificates {
  const names = [...new Set([...byRoute.values()].flat())].slice(0, MAX_OF_HOST);
  const namespaces = new Set([...byRoute.keys()].map((name) => name.slice(0, name.indexOf('/'))));
  return { byRoute, names, namespaces };
}
