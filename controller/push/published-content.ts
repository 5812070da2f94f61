import { Manifest } from '../../shared/snapshot/manifest.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import { PublishedResource } from './published-resource.ts';
import { RevisionHistory } from './revision-history.ts';

/** So many resources may be withheld in any case, */
const FEW_WITHHELD = 10;
/** and this part of all: a proxy that refuses more than that has a fault of its own. */
const WITHHELD_PART = 0.1;

/** What brings a proxy from one snapshot to the newest. */
export interface Delivery {
  readonly position: SnapshotPosition;
  readonly version: string;
  /** Version that it changes; undefined: it is the whole snapshot. */
  readonly base: string | undefined;
  readonly put: readonly PublishedResource[];
  readonly deleted: readonly string[];
}

/** A resource that proxies refused. */
export interface Rejection {
  /** Why, by proxy. */
  readonly messages: Map<string, string>;
  /** Sequences of the snapshots that had it: from the first, up to and without the last. */
  readonly since: number;
  readonly until: number;
}

/** Keys and messages of resources that a proxy refused in the snapshot of a sequence. */
export interface Refusal {
  readonly proxy: string;
  readonly sequence: number;
  readonly messages: ReadonlyMap<string, string>;
}

interface Slot {
  /** What was handed over to be published. */
  desired: SnapshotResource;
  /** What is published: the same unless it is withheld. */
  published: PublishedResource | undefined;
  /** What is published again when that is refused. */
  fallback: SnapshotResource | undefined;
  rejection: Rejection | undefined;
}

/**
 * The resources that are published, and how they came to be: what is handed over, without what
 * proxies refused. Instead of that, what was published before under the key stays.
 */
export class PublishedContent {
  readonly #slots = new Map<string, Slot>();
  /** Keys of the slots with a rejection. */
  readonly #rejected = new Set<string>();
  readonly #manifest = new Manifest();
  readonly #history = new RevisionHistory();
  /** Tells whether the proxies have acknowledged the snapshot of a sequence. */
  readonly #isAcknowledged: (sequence: number) => boolean;
  #epoch: number;
  #sequence = 0;
  /** Of the revision in the making: keys, with the hashes before. */
  #changes = new Map<string, string | undefined>();

  constructor(epoch: number, isAcknowledged: (sequence: number) => boolean) {
    this.#epoch = epoch;
    this.#isAcknowledged = isAcknowledged;
  }

  get position(): SnapshotPosition {
    return { epoch: this.#epoch, sequence: this.#sequence };
  }

  get version(): string {
    return this.#manifest.version();
  }

  get history(): RevisionHistory {
    return this.#history;
  }

  get isPublished(): boolean {
    return this.#sequence > 0;
  }

  /** Takes what changed. The first time there is a new revision in any case. */
  publish(put: readonly SnapshotResource[], deleted: readonly string[]): boolean {
    for (const key of deleted) this.#remove(key);
    for (const resource of put) this.#want(resource);
    return this.#commit({ always: !this.isPublished });
  }

  /** The same content under a higher epoch. */
  raiseEpoch(epoch: number): void {
    this.#epoch = epoch;
    if (this.isPublished) this.#commit({ always: true });
  }

  /**
   * Withholds what a proxy refused. Returns how many of the resources were withheld for it, or are
   * not published any more: 0 means that the same snapshot would be refused again.
   */
  withhold(refusal: Refusal): number {
    const { sequence, messages } = refusal;
    const known = new Set([...messages.keys()].filter((key) => this.#isKnown(key, sequence)));
    const added = [...known].filter((key) => !this.#rejected.has(key));
    const limit = Math.max(FEW_WITHHELD, this.#slots.size * WITHHELD_PART);
    if (this.#rejected.size + added.length > limit) return 0;
    const moved = this.#history.keysBetween(sequence, this.#sequence);
    const superseded = [...messages.keys()].filter(
      (key) => moved !== 'all' && moved.has(key) && !known.has(key),
    );
    for (const key of known) this.#reject(key, refusal);
    this.#commit({ always: false });
    return known.size + superseded.length;
  }

  /** Publishes again what nobody but this proxy refused. Returns its keys. */
  retryWithout(proxy: string): readonly string[] {
    const retried: string[] = [];
    for (const key of this.#rejected) {
      const slot = this.#slots.get(key);
      if (slot?.rejection?.messages.delete(proxy) !== true) continue;
      if (slot.rejection.messages.size > 0) continue;
      this.#setRejection(slot, undefined);
      this.#put(slot, slot.desired);
      retried.push(key);
    }
    this.#commit({ always: false });
    return retried;
  }

  /** What is published under the key, and what became of what was handed over. */
  find(key: string): Pick<Slot, 'published' | 'rejection'> | undefined {
    return this.#slots.get(key);
  }

  /** What brings a proxy with `base` to the newest snapshot. */
  deliveryFrom(base: string | undefined): Delivery {
    const { position, version } = this;
    const changes = base === undefined ? undefined : this.#history.changesSince(base);
    if (base === undefined || changes === undefined) {
      return { position, version, base: undefined, put: this.#everything(), deleted: [] };
    }
    const put: PublishedResource[] = [];
    const deleted: string[] = [];
    for (const [key, before] of changes) {
      const published = this.#slots.get(key)?.published;
      if (published?.resource.hash === before) continue;
      if (published === undefined) deleted.push(key);
      else put.push(published);
    }
    return { position, version, base, put, deleted };
  }

  #everything(): readonly PublishedResource[] {
    const resources: PublishedResource[] = [];
    for (const { published } of this.#slots.values()) {
      if (published !== undefined) resources.push(published);
    }
    return resources;
  }

  #want(resource: SnapshotResource): void {
    const slot = this.#slots.get(resource.key);
    if (slot === undefined) {
      const added: Slot = {
        desired: resource,
        published: undefined,
        fallback: undefined,
        rejection: undefined,
      };
      this.#slots.set(resource.key, added);
      this.#put(added, resource);
      return;
    }
    if (slot.desired.hash === resource.hash) return;
    slot.desired = resource;
    this.#setRejection(slot, undefined);
    this.#put(slot, resource);
  }

  #remove(key: string): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#setRejection(slot, undefined);
    this.#slots.delete(key);
    if (slot.published === undefined) return;
    this.#noteChange(key, slot.published);
    this.#manifest.delete(key);
  }

  #put(slot: Slot, resource: SnapshotResource): void {
    const { published } = slot;
    if (published?.resource.hash === resource.hash) return;
    if (published !== undefined && this.#isProven(slot, published)) {
      slot.fallback = published.resource;
    }
    this.#replace(slot, resource);
  }

  /** What no proxy has acknowledged yet does not take the place of what one has. */
  #isProven({ fallback }: Slot, { since }: PublishedResource): boolean {
    return fallback === undefined || this.#isAcknowledged(since);
  }

  #isKnown(key: string, sequence: number): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    const { published, rejection } = slot;
    const isPublished = published !== undefined && published.since <= sequence;
    return isPublished || (rejection !== undefined && wasIn(rejection, sequence));
  }

  #reject(key: string, { proxy, sequence, messages }: Refusal): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    const message = messages.get(key) ?? '';
    const { published, rejection } = slot;
    if (rejection !== undefined && wasIn(rejection, sequence)) {
      rejection.messages.set(proxy, message);
      return;
    }
    if (published === undefined || published.since > sequence) return;
    if (published.resource.hash === slot.desired.hash) {
      const until = this.#sequence + 1;
      const added = { messages: new Map([[proxy, message]]), since: published.since, until };
      this.#setRejection(slot, added);
    }
    const { fallback } = slot;
    slot.fallback = undefined;
    this.#replace(slot, fallback);
  }

  #setRejection(slot: Slot, rejection: Rejection | undefined): void {
    slot.rejection = rejection;
    if (rejection === undefined) this.#rejected.delete(slot.desired.key);
    else this.#rejected.add(slot.desired.key);
  }

  #replace(slot: Slot, resource: SnapshotResource | undefined): void {
    const { key } = slot.desired;
    this.#noteChange(key, slot.published);
    if (resource === undefined) {
      slot.published = undefined;
      this.#manifest.delete(key);
      return;
    }
    slot.published = new PublishedResource(resource, this.#sequence + 1);
    this.#manifest.put(key, resource.hash);
  }

  #noteChange(key: string, before: PublishedResource | undefined): void {
    if (!this.#changes.has(key)) this.#changes.set(key, before?.resource.hash);
  }

  #commit({ always }: { readonly always: boolean }): boolean {
    if (this.#changes.size === 0 && !always) return false;
    const changes = this.#changes;
    this.#changes = new Map();
    this.#sequence += 1;
    this.#history.add({ position: this.position, version: this.version, changes });
    return true;
  }
}

function wasIn({ since, until }: Rejection, sequence: number): boolean {
  return since <= sequence && sequence < until;
}
