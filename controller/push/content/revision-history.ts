import {
  comparePositions,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';

/** The most revisions that are remembered, so that changes can be based on them. */
const MAX_REVISIONS = 64;
/** The most changed keys that are remembered: sending more costs as much as the whole snapshot. */
const MAX_CHANGED_KEYS = 50_000;
/** The most positions that are remembered with their versions. */
const MAX_POSITIONS = 4096;
/** The most variants that are remembered per position. */
const MAX_VARIANTS = 64;

/**
 * The origin of the snapshot of a proxy:
 *
 * - `revision`: this leadership published it; positions too old to check are accepted
 * - `variant`: this leadership sent it to one proxy in place of a revision
 * - `foreign`: neither
 */
export type Provenance = 'revision' | 'variant' | 'foreign';

/** The versions that were published at a position. */
interface PublishedPosition {
  readonly epoch: number;
  readonly version: string;
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly variants: Set<string>;
}

/** A published snapshot. */
export interface Revision {
  readonly position: SnapshotPosition;
  readonly version: string;
  /** Keys that it changed, with their hashes before; undefined: the key did not exist. */
  readonly changes: ReadonlyMap<string, string | undefined>;
  /** When it was published, in monotonic milliseconds. */
  readonly at: number;
}

/** The last revisions of a leadership. */
export class RevisionHistory {
  readonly #revisions: Revision[] = [];
  readonly #positions = new Map<number, PublishedPosition>();
  #changedKeys = 0;

  get newest(): Revision | undefined {
    return this.#revisions.at(-1);
  }

  add(revision: Revision): void {
    const { position, version, changes, at } = revision;
    this.#revisions.push(revision);
    this.#changedKeys += changes.size;
    while (
      this.#revisions.length > MAX_REVISIONS ||
      (this.#revisions.length > 1 && this.#changedKeys > MAX_CHANGED_KEYS)
    ) {
      this.#changedKeys -= this.#revisions.shift()?.changes.size ?? 0;
    }
    const { epoch } = position;
    this.#positions.set(position.sequence, { epoch, version, at, variants: new Set() });
    this.#positions.delete(position.sequence - MAX_POSITIONS);
  }

  /** Records that a proxy was sent this version in place of a revision. */
  addVariant({ sequence }: SnapshotPosition, version: string): void {
    const published = this.#positions.get(sequence);
    if (published === undefined || published.version === version) return;
    const [oldest] = published.variants;
    if (published.variants.size >= MAX_VARIANTS && oldest !== undefined)
      published.variants.delete(oldest);
    published.variants.add(version);
  }

  /**
   * Returns when the first snapshot after a sequence was published, in monotonic milliseconds; undefined
   * if there is none. If that is forgotten, the oldest remembered snapshot counts.
   */
  publishedAfter(sequence: number): number | undefined {
    const { newest } = this;
    if (newest === undefined || newest.position.sequence <= sequence) return undefined;
    const [oldest] = this.#positions.values();
    return (this.#positions.get(sequence + 1) ?? oldest)?.at;
  }

  /**
   * Returns the keys that changed since a version, with their hashes at it; undefined if the version
   * is unknown or forgotten.
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

  /** Returns the keys that changed after one sequence, up to another; 'all' if that is forgotten. */
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

  /** Returns where the snapshot of a proxy comes from. */
  provenanceOf(position: SnapshotPosition, version: string): Provenance {
    const newest = this.newest;
    if (newest === undefined || comparePositions(position, newest.position) > 0) return 'foreign';
    const published = this.#positions.get(position.sequence);
    if (published === undefined) {
      const oldest = newest.position.sequence - MAX_POSITIONS;
      const isOld = position.epoch === newest.position.epoch && position.sequence <= oldest;
      return isOld ? 'revision' : 'foreign';
    }
    if (published.epoch !== position.epoch) return 'foreign';
    if (published.version === version) return 'revision';
    return published.variants.has(version) ? 'variant' : 'foreign';
  }
}
