import { Collection } from './collection.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { Revisions } from './revisions.ts';

/** All objects, by resource. */
export class Store {
  readonly revisions = new Revisions();
  readonly #collections = new Map<ResourceDefinition, Collection>();

  constructor(definitions: readonly ResourceDefinition[], historyLimit: number) {
    for (const definition of definitions) {
      this.#collections.set(definition, new Collection(definition, this.revisions, historyLimit));
    }
  }

  collection(definition: ResourceDefinition): Collection {
    const collection = this.#collections.get(definition);
    if (collection === undefined) throw new Error(`${definition.plural} are not stored`);
    return collection;
  }

  get collections(): Iterable<Collection> {
    return this.#collections.values();
  }

  /** Forgets every change so far: no watch can resume from before. */
  compact(): void {
    const revision = this.revisions.next();
    for (const collection of this.#collections.values()) collection.forgetBefore(revision);
  }
}
