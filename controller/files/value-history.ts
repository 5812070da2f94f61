import type { Version } from './versions.ts';
import type { ConfigMap } from '../validate/config-map.ts';
import type { Secret } from '../validate/secret.ts';

type Values<R extends Secret | ConfigMap> = R['values'];

/** The Secrets or ConfigMaps of files. One that becomes unreadable keeps its last good values. */
export class ValueHistory<R extends Secret | ConfigMap> {
  /** The file of each object that the compiler has. */
  readonly #files = new Map<string, string>();

  /** Returns the changes for the compiler, by `namespace/name`; undefined: removed. */
  update(
    versions: ReadonlyMap<string, Version<R>>,
    unreadableFiles: ReadonlySet<string>,
  ): ReadonlyMap<string, Values<R> | undefined> {
    const changes = new Map<string, Values<R> | undefined>();
    for (const [key, version] of versions) {
      if (version.kind === 'unreadable') continue;
      changes.set(key, version.resource.values);
      this.#files.set(key, version.candidate.file);
    }
    for (const [key, file] of this.#files) {
      if (versions.has(key) || unreadableFiles.has(file)) continue;
      changes.set(key, undefined);
      this.#files.delete(key);
    }
    return changes;
  }
}
