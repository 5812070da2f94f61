import { SnapshotDigest } from '../../../shared/snapshot/snapshot-digest.ts';
import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../../compile/change-set.ts';
import type { Overlay, SentSnapshot } from './overlay.ts';
import { PublishedResource } from './published-resource.ts';
import { RevisionHistory } from './revision-history.ts';

/** The changes that bring a proxy from the snapshot it serves to the newest. */
export interface Delivery {
  readonly position: SnapshotPosition;
  /** The snapshot that the proxy serves after the delivery. */
  readonly sent: SentSnapshot;
  /** Version that the delivery changes; undefined for a whole snapshot. */
  readonly base: string | undefined;
  readonly put: readonly PublishedResource[];
  /** In a whole snapshot: keys and hashes of resources that the proxy keeps serving. */
  readonly kept: readonly (readonly [string, string])[];
  readonly deleted: readonly string[];
}

/**
 * The published resources, and the history of their changes. A resource that is too large for proxies
 * is withheld: the resource that was published before under its key stays.
 */
export class PublishedContent {
  readonly #resources = new Map<string, PublishedResource>();
  /** Keys of the resources that are withheld. */
  readonly #tooLarge = new Set<string>();
  readonly #digest = new SnapshotDigest();
  readonly #history = new RevisionHistory();
  readonly #now: () => number;
  #epoch: number;
  #sequence = 0;
  /** Keys that the next revision changes, with their hashes before. */
  #changes = new Map<string, string | undefined>();

  /** `now` returns monotonic milliseconds. */
  constructor(epoch: number, now: () => number) {
    this.#epoch = epoch;
    this.#now = now;
  }

  get position(): SnapshotPosition {
    return { epoch: this.#epoch, sequence: this.#sequence };
  }

  get version(): string {
    return this.#digest.version();
  }

  get history(): RevisionHistory {
    return this.#history;
  }

  get isPublished(): boolean {
    return this.#sequence > 0;
  }

  /** Publishes changes. Returns whether there is a new revision; the first call always makes one. */
  publish({ put, deleted }: ChangeSet): boolean {
    for (const key of deleted) this.#delete(key);
    for (const resource of put) this.#put(resource);
    if (this.#changes.size === 0 && this.isPublished) return false;
    this.#commit();
    return true;
  }

  /** Publishes the same content under a higher epoch. */
  raiseEpoch(epoch: number): void {
    this.#epoch = epoch;
    this.advance();
  }

  /** Publishes the same content at a later position. */
  advance(): void {
    if (this.isPublished) this.#commit();
  }

  get size(): number {
    return this.#resources.size;
  }

  /** Whether the resource that was last passed to `publish` under the key is withheld. */
  isTooLarge(key: string): boolean {
    return this.#tooLarge.has(key);
  }

  /** The resource that is published under the key. */
  find(key: string): PublishedResource | undefined {
    return this.#resources.get(key);
  }

  /** Keys of the resources that need the Service or certificate with that key. */
  *usersOf(partKey: string): Generator<string> {
    for (const [key, { partKeys }] of this.#resources) {
      if (partKeys.includes(partKey)) yield key;
    }
  }

  /** Returns the hash of each key as of a revision; undefined if that revision is forgotten. */
  hashesAt(revision: string): ((key: string) => string | undefined) | undefined {
    const changes = this.#history.changesSince(revision);
    if (changes === undefined) return undefined;
    return (key) => (changes.has(key) ? changes.get(key) : this.#hashOf(key));
  }

  /** Returns the changes that bring a proxy from `base` to the newest snapshot with its overlay. */
  deliveryFrom(base: SentSnapshot | undefined, overlay: Overlay): Delivery {
    const { position, version: revision } = this;
    const sent = { version: this.#versionWith(overlay), revision, overlay };
    const changes = base && this.#changesSince(base, overlay);
    if (changes !== undefined) {
      return { position, sent, base: base?.version, kept: [], ...changes };
    }
    const put = [...this.#resources.values()].filter(({ resource }) => !overlay.has(resource.key));
    const kept: (readonly [string, string])[] = [];
    for (const [key, hash] of overlay) if (hash !== undefined) kept.push([key, hash]);
    return { position, sent, base: undefined, put, kept, deleted: [] };
  }

  /** Returns undefined if a whole snapshot is necessary. */
  #changesSince(
    base: SentSnapshot,
    overlay: Overlay,
  ): Pick<Delivery, 'put' | 'deleted'> | undefined {
    const changes = this.#history.changesSince(base.revision);
    if (changes === undefined) return undefined;
    const put: PublishedResource[] = [];
    const deleted: string[] = [];
    const hashBefore = (key: string): string | undefined =>
      changes.has(key) ? changes.get(key) : this.#hashOf(key);
    for (const key of new Set([...changes.keys(), ...base.overlay.keys(), ...overlay.keys()])) {
      const before = base.overlay.has(key) ? base.overlay.get(key) : hashBefore(key);
      const published = this.#resources.get(key);
      const after = overlay.has(key) ? overlay.get(key) : published?.resource.hash;
      if (before === after) continue;
      if (after === undefined) deleted.push(key);
      else if (overlay.has(key) || published === undefined) return undefined;
      else put.push(published);
    }
    return { put, deleted };
  }

  #versionWith(overlay: Overlay): string {
    if (overlay.size === 0) return this.version;
    const digest = this.#digest.fork();
    for (const [key, hash] of overlay) {
      if (hash === undefined) digest.delete(key);
      else digest.put(key, hash);
    }
    return digest.version();
  }

  #hashOf(key: string): string | undefined {
    return this.#resources.get(key)?.resource.hash;
  }

  #put(resource: SnapshotResource): void {
    const { key, hash } = resource;
    const next = new PublishedResource(resource, this.#sequence + 1);
    if (next.isTooLarge) {
      this.#tooLarge.add(key);
      return;
    }
    this.#tooLarge.delete(key);
    if (this.#hashOf(key) === hash) return;
    this.#noteChange(key);
    this.#resources.set(key, next);
    this.#digest.put(key, hash);
  }

  #delete(key: string): void {
    this.#tooLarge.delete(key);
    if (!this.#resources.has(key)) return;
    this.#noteChange(key);
    this.#resources.delete(key);
    this.#digest.delete(key);
  }

  #noteChange(key: string): void {
    if (!this.#changes.has(key)) this.#changes.set(key, this.#hashOf(key));
  }

  #commit(): void {
    const changes = this.#changes;
    this.#changes = new Map();
    this.#sequence += 1;
    const { position, version } = this;
    this.#history.add({ position, version, changes, at: this.#now() });
  }
}
