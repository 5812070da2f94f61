import {
  comparePositions,
  type SnapshotPosition,
} from '../../shared/snapshot/snapshot-position.ts';

/** Revisions from which a delta can be made. */
const REVISIONS = 64;
/** So many changed keys are remembered at most: a longer delta costs more than the whole. */
const CHANGED_KEYS = 50_000;
/** Positions that are known as ours. */
const POSITIONS = 4096;

/** A snapshot that was published. */
export interface Revision {
  readonly position: SnapshotPosition;
  readonly version: string;
  /** Keys that it changed, with the hashes they had before; undefined: none. */
  readonly changes: ReadonlyMap<string, string | undefined>;
}

/** What this leadership published last, newest last. */
export class RevisionHistory {
  readonly #revisions: Revision[] = [];
  readonly #versions = new Map<number, { readonly epoch: number; readonly version: string }>();
  #changedKeys = 0;

  get newest(): Revision | undefined {
    return this.#revisions.at(-1);
  }

  add(revision: Revision): void {
    const { position, version, changes } = revision;
    this.#revisions.push(revision);
    this.#changedKeys += changes.size;
    while (
      this.#revisions.length > REVISIONS ||
      (this.#revisions.length > 1 && this.#changedKeys > CHANGED_KEYS)
    ) {
      this.#changedKeys -= this.#revisions.shift()?.changes.size ?? 0;
    }
    this.#versions.set(position.sequence, { epoch: position.epoch, version });
    this.#versions.delete(position.sequence - POSITIONS);
  }

  /**
   * What changed since a version, with the hashes before; undefined where that is not known (any
   * more).
   */
  changesSince(version: string): ReadonlyMap<string, string | undefined> | undefined {
    const base = this.#revisions.findLastIndex((revision) => revision.version === version);
    if (base === -1) return undefined;
    const changes = new Map<string, string | undefined>();
    for (const revision of this.#revisions.slice(base + 1)) {
      for (const [key, before] of revision.changes) {
        if (!changes.has(key)) changes.set(key, before);
      }
    }
    return changes;
  }

  /** Keys that changed after one sequence, up to another; 'all' where that is not known any more. */
  keysBetween(after: number, upTo: number): ReadonlySet<string> | 'all' {
    const oldest = this.#revisions[0];
    if (oldest === undefined || oldest.position.sequence > after + 1) return 'all';
    const keys = new Set<string>();
    for (const { position, changes } of this.#revisions) {
      if (position.sequence <= after || position.sequence > upTo) continue;
      for (const key of changes.keys()) keys.add(key);
    }
    return keys;
  }

  /** Whether this leadership published that there. What is too long ago is believed. */
  isOurs(position: SnapshotPosition, version: string): boolean {
    const newest = this.newest;
    if (newest === undefined || comparePositions(position, newest.position) > 0) return false;
    const published = this.#versions.get(position.sequence);
    if (published !== undefined) {
      return published.epoch === position.epoch && published.version === version;
    }
    const oldest = newest.position.sequence - POSITIONS;
    return position.epoch === newest.position.epoch && position.sequence <= oldest;
  }
}
