import {
  comparePositions,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';

/** Revisions from which a delta can be made. */
const REVISIONS = 64;
/** So many changed keys are remembered at most: a longer delta costs more than the whole. */
const CHANGED_KEYS = 50_000;
/** Positions that are known as ours, */
const POSITIONS = 4096;
/** and what single proxies were sent in each. */
const VARIANTS = 64;

/**
 * - `revision`: what this leadership published there; what is too long ago is believed
 * - `variant`: what it sent one proxy there
 * - `foreign`: neither
 */
export type Provenance = 'revision' | 'variant' | 'foreign';

interface Place {
  readonly epoch: number;
  readonly version: string;
  readonly variants: Set<string>;
}

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
  readonly #places = new Map<number, Place>();
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
    this.#places.set(position.sequence, { epoch: position.epoch, version, variants: new Set() });
    this.#places.delete(position.sequence - POSITIONS);
  }

  /** Notes that a proxy was sent something else in the place of a revision. */
  addVariant({ sequence }: SnapshotPosition, version: string): void {
    const place = this.#places.get(sequence);
    if (place === undefined || place.version === version) return;
    const [oldest] = place.variants;
    if (place.variants.size >= VARIANTS && oldest !== undefined) place.variants.delete(oldest);
    place.variants.add(version);
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

  /** Where a snapshot comes from that a proxy has. */
  provenanceOf(position: SnapshotPosition, version: string): Provenance {
    const newest = this.newest;
    if (newest === undefined || comparePositions(position, newest.position) > 0) return 'foreign';
    const place = this.#places.get(position.sequence);
    if (place === undefined) {
      const oldest = newest.position.sequence - POSITIONS;
      const isOld = position.epoch === newest.position.epoch && position.sequence <= oldest;
      return isOld ? 'revision' : 'foreign';
    }
    if (place.epoch !== position.epoch) return 'foreign';
    if (place.version === version) return 'revision';
    return place.variants.has(version) ? 'variant' : 'foreign';
  }
}
