import type { ApiObject } from './api-object.ts';
import type { Collection, Stored } from './collection.ts';
import { objectAt } from './field-reading.ts';
import { shown, type Json } from './json.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { NAMESPACES } from './resource-definitions.ts';
import type { Selector } from './selectors.ts';
import { conflict, forbidden, notFound } from './status-error.ts';
import type { Store } from './store.ts';
import { wholeSeconds } from './times.ts';

/** Namespaces that are always there. */
export const STANDING_NAMESPACES: readonly string[] = [
  'default',
  'kube-node-lease',
  'kube-public',
  'kube-system',
];

/** The result of a deletion. */
export interface Removed {
  readonly stored: Stored;
  /** False while the object waits for its finalizers. */
  readonly isGone: boolean;
}

/** Removes objects, at once or when their last finalizer is removed. */
export class ObjectRemover {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** `options` are the `DeleteOptions` of the request. */
  remove(
    definition: ResourceDefinition,
    { namespace, name }: { readonly namespace: string; readonly name: string },
    options: Json | undefined,
    dryRun: boolean,
  ): Removed {
    const collection = this.#store.collection(definition);
    const live = collection.get(namespace, name);
    if (live === undefined) throw notFound(definition, name);
    if (definition === NAMESPACES && STANDING_NAMESPACES.includes(name)) {
      throw forbidden(definition, name, 'this namespace may not be deleted');
    }
    assertPreconditions(definition, live.object, options);
    if (dryRun) return { stored: live, isGone: true };
    const stored =
      definition === NAMESPACES
        ? this.#removeNamespace(live)
        : this.#removeObject(collection, live);
    return { stored, isGone: collection.get(namespace, name) === undefined };
  }

  /** Removes all objects that are selected, and returns them. */
  removeAll(definition: ResourceDefinition, selects: Selector): readonly Stored[] {
    const collection = this.#store.collection(definition);
    const selected = collection.all().filter(({ object }) => selects(object));
    for (const stored of selected) this.#removeObject(collection, stored);
    return selected;
  }

  #removeObject(collection: Collection, { object }: Stored): Stored {
    if ((object.metadata.finalizers ?? []).length === 0) return collection.delete(object);
    if (object.metadata.deletionTimestamp !== undefined) {
      return this.#current(collection, object);
    }
    return collection.put(this.#marked(object));
  }

  #current(collection: Collection, { metadata }: ApiObject): Stored {
    const current = collection.get(metadata.namespace ?? '', metadata.name);
    if (current === undefined) throw notFound(collection.definition, metadata.name);
    return current;
  }

  #marked(object: ApiObject): ApiObject {
    const { generation } = object.metadata;
    return {
      ...object,
      metadata: {
        ...object.metadata,
        deletionTimestamp: wholeSeconds(this.#now()),
        deletionGracePeriodSeconds: 0,
        ...(generation !== undefined && { generation: generation + 1 }),
      },
    };
  }

  /** Removes the objects in it first. The namespace stays while one of them waits for a finalizer. */
  #removeNamespace({ object }: Stored): Stored {
    const namespaces = this.#store.collection(NAMESPACES);
    const status = { ...objectAt(object, 'status'), phase: 'Terminating' };
    const terminating =
      object.metadata.deletionTimestamp === undefined
        ? namespaces.put({ ...this.#marked(object), status })
        : this.#current(namespaces, object);
    const within: Selector = ({ metadata }) => metadata.namespace === object.metadata.name;
    for (const { definition } of this.#store.collections) this.removeAll(definition, within);
    const isEmpty = [...this.#store.collections].every(
      (collection) => !collection.all().some(({ object: left }) => within(left)),
    );
    return isEmpty ? namespaces.delete(terminating.object) : terminating;
  }
}

function assertPreconditions(
  definition: ResourceDefinition,
  { metadata }: ApiObject,
  options: Json | undefined,
): void {
  const { uid, resourceVersion } = objectAt(options, 'preconditions');
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      definition,
      metadata.name,
      `the UID in the precondition (${shown(uid)}) does not match the UID in record (${shown(metadata.uid)}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      definition,
      metadata.name,
      `the ResourceVersion in the precondition (${shown(resourceVersion)}) does not match the ResourceVersion in record (${shown(metadata.resourceVersion)}). The object might have been modified`,
    );
  }
}
