import { SnapshotDigest } from '../../../shared/snapshot/snapshot-digest.ts';
import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { ChangeSet } from '../../compile/change-set.ts';
import type { Overlay, SentSnapshot } from './overlay.ts';
import { PublishedResource } from './published-resource.ts';
import { RevisionHistory } from './revision-history.ts';

/** What brings a proxy from one snapshot to the newest, or to what it takes of that. */
export interface Delivery {
  readonly position: SnapshotPosition;
  /** What the proxy has then. */
  readonly sent: SentSnapshot;
  /** Version that it changes; undefined: it is the whole snapshot. */
  readonly base: string | undefined;
  readonly put: readonly PublishedResource[];
  /** Of a whole snapshot: keys and hashes of what the proxy serves and goes on with. */
  readonly kept: readonly (readonly [string, string])[];
  readonly deleted: readonly string[];
}

/**
 * The resources that are published, and how they came to be: what is handed over, without what proxies
 * could not take. Instead of that, what was published before under the key stays.
 */
export class PublishedContent {
  readonly #resources = new Map<string, PublishedResource>();
  /** Keys of what was handed over and is withheld, because no proxy could take it. */
  readonly #tooLarge = new Set<string>();
  readonly #digest = new SnapshotDigest();
  readonly #history = new RevisionHistory();
  #epoch: number;
  #sequence = 0;
  /** Of the revision in the making: keys, with the hashes before. */
  #changes = new Map<string, string | undefined>();

  constructor(epoch: number) {
    this.#epoch = epoch;
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

  /** Takes what changed. The first time there is a new revision in any case. */
  publish({ put, deleted }: ChangeSet): boolean {
    for (const key of deleted) this.#delete(key);
    for (const resource of put) this.#put(resource);
    if (this.#changes.size === 0 && this.isPublished) return false;
    this.#commit();
    return true;
  }

  /** The same content under a higher epoch. */
  raiseEpoch(epoch: number): void {
    this.#epoch = epoch;
    this.advance();
  }

  /** The same content in a later place, for a proxy that has another one in this place. */
  advance(): void {
    if (this.isPublished) this.#commit();
  }

  get size(): number {
    return this.#resources.size;
  }

  /** Whether what was handed over last under the key is withheld. */
  isTooLarge(key: string): boolean {
    return this.#tooLarge.has(key);
  }

  /** What is published under the key. */
  find(key: string): PublishedResource | undefined {
    return this.#resources.get(key);
  }

  /** Keys of the routes with a share for the Service under that key. */
  *routesTo(serviceKey: string): Generator<string> {
    for (const [key, { serviceKeys }] of this.#resources) {
      if (serviceKeys.includes(serviceKey)) yield key;
    }
  }

  /** Hashes under the keys as of a revision; undefined where that is not known any more. */
  hashesAt(revision: string): ((key: string) => string | undefined) | undefined {
    const changes = this.#history.changesSince(revision);
    if (changes === undefined) return undefined;
    return (key) => (changes.has(key) ? changes.get(key) : this.#hashOf(key));
  }

  /** What brings a proxy with `base` to the newest snapshot, but for what the overlay says. */
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

  /** undefined: it takes a whole snapshot. */
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
    this.#history.add({ position: this.position, version: this.version, changes });
  }
}
