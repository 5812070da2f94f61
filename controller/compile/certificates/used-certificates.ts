import { hashResource } from '../../../shared/snapshot/hash-resource.ts';
import { certificateKey } from '../../../shared/snapshot/resource-key.ts';
import type { SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import { MultiMap } from '../multi-map.ts';
import type { CertificateDirectory } from './certificate-directory.ts';

/** The certificates that routes or the settings use, as snapshot resources. */
export class UsedCertificates {
  readonly #directory: CertificateDirectory;
  readonly #users = new MultiMap<string, string>();
  readonly #usedBy = new Map<string, readonly string[]>();
  readonly #changed = new Set<string>();

  constructor(directory: CertificateDirectory) {
    this.#directory = directory;
  }

  /** Sets the certificates of a route, or of the settings, by `namespace/name` of their Secrets. */
  use(user: string, names: readonly string[]): void {
    const before = this.#usedBy.get(user) ?? [];
    for (const name of before) this.#users.delete(name, user);
    for (const name of names) this.#users.add(name, user);
    this.invalidate([...before, ...names]);
    if (names.length === 0) this.#usedBy.delete(user);
    else this.#usedBy.set(user, names);
  }

  /** Marks certificates as changed, by `namespace/name` of their Secrets. */
  invalidate(names: Iterable<string>): void {
    for (const name of names) this.#changed.add(name);
  }

  /** Compiles the certificates that may have changed since the last call; undefined: in no snapshot. */
  compileChanged(): ReadonlyMap<string, SnapshotResource | undefined> {
    const compiled = [...this.#changed].map((name) => {
      const key = certificateKey(name);
      return [key, this.#compile(key, name)] as const;
    });
    this.#changed.clear();
    return new Map(compiled);
  }

  #compile(key: string, name: string): SnapshotResource | undefined {
    if (this.#users.get(name).size === 0) return undefined;
    const certificate = this.#directory.served(name);
    return certificate && hashResource(key, { kind: 'certificate', name, ...certificate.content });
  }
}
