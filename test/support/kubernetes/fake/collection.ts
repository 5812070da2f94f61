import type { ApiObject } from './api-object.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import type { Revisions } from './revisions.ts';

/** An object, and its text, which is written once for all readers. */
export interface Stored {
  readonly object: ApiObject;
  readonly text: string;
}

export interface Change {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly stored: Stored;
  /** The object before the change; undefined for `ADDED`. */
  readonly previous: Stored | undefined;
}

const SNAPSHOTS_KEPT = 64;

/** The objects of one resource, with the latest changes to them. Objects are never changed in place. */
export class Collection {
  readonly definition: ResourceDefinition;
  readonly #revisions: Revisions;
  readonly #historyLimit: number;
  readonly #objects = new Map<string, Stored>();
  readonly #subscribers = new Set<(change: Change) => void>();
  #sorted: readonly Stored[] | undefined;
  #history: Change[] = [];
  #forgottenBefore = 0;
  #snapshots = new Map<number, readonly Stored[]>();

  constructor(definition: ResourceDefinition, revisions: Revisions, historyLimit: number) {
    this.definition = definition;
    this.#revisions = revisions;
    this.#historyLimit = historyLimit;
  }

  get(namespace: string, name: string): Stored | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  /** All objects in the order of namespaces and names. */
  all(): readonly Stored[] {
    this.#sorted ??= [...this.#objects]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, stored]) => stored);
    return this.#sorted;
  }

  /** Keeps the present objects for later pages. */
  keepSnapshot(): void {
    const { current } = this.#revisions;
    this.#snapshots.set(current, this.all());
    const [oldest] = this.#snapshots.keys();
    if (this.#snapshots.size > SNAPSHOTS_KEPT && oldest !== undefined) {
      this.#snapshots.delete(oldest);
    }
  }

  /** Returns the objects at a revision; undefined if they are forgotten. */
  snapshotAt(revision: number): readonly Stored[] | undefined {
    return this.#snapshots.get(revision);
  }

  /** Stores an object with a new version. */
  put(object: ApiObject): Stored {
    const { namespace = '', name } = object.metadata;
    const previous = this.get(namespace, name);
    const change = this.#record(previous === undefined ? 'ADDED' : 'MODIFIED', object, previous);
    this.#objects.set(keyOf(namespace, name), change.stored);
    this.#publish(change);
    return change.stored;
  }

  /** Removes an object, whose last version is in the event. */
  delete(object: ApiObject): Stored {
    const { namespace = '', name } = object.metadata;
    const change = this.#record('DELETED', object, this.get(namespace, name));
    this.#objects.delete(keyOf(namespace, name));
    this.#publish(change);
    return change.stored;
  }

  /** Returns the changes after a revision; undefined if some of them are forgotten. */
  changesSince(revision: number): readonly Change[] | undefined {
    if (revision < this.#forgottenBefore) return undefined;
    const first = this.#history.findLastIndex((change) => change.revision <= revision) + 1;
    return this.#history.slice(first);
  }

  /** Reports every change from now on, until the returned function is called. */
  subscribe(subscriber: (change: Change) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  get forgottenBefore(): number {
    return this.#forgottenBefore;
  }

  forgetBefore(revision: number): void {
    this.#forgottenBefore = revision;
    this.#history = this.#history.filter((change) => change.revision > revision);
    this.#snapshots.clear();
  }

  #record(type: Change['type'], object: ApiObject, previous: Stored | undefined): Change {
    const revision = this.#revisions.next();
    const versioned: ApiObject = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(revision) },
    };
    return {
      revision,
      type,
      stored: { object: versioned, text: JSON.stringify(versioned) },
      previous,
    };
  }

  #publish(change: Change): void {
    this.#sorted = undefined;
    this.#history.push(change);
    if (this.#history.length > 2 * this.#historyLimit) {
      const gone = this.#history.splice(0, this.#history.length - this.#historyLimit);
      this.#forgottenBefore = gone.at(-1)?.revision ?? this.#forgottenBefore;
    }
    for (const subscriber of this.#subscribers) subscriber(change);
  }
}

/** Sorts as etcd sorts: no character of a name comes before the slash. */
function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
