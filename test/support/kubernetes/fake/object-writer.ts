import type { ApiObject, ObjectMeta } from './api-object.ts';
import { applyTo } from './apply.ts';
import type { Collection, Stored } from './collection.ts';
import { objectAt, textAt } from './field-reading.ts';
import { isEqual, isObject, without, type Json } from './json.ts';
import { jsonPatch } from './json-patch.ts';
import { recordUpdate, type Writer } from './managed-fields.ts';
import { mergePatch } from './merge-patch.ts';
import { assertNamespaceTakes } from './namespaces.ts';
import { assertCurrent, assertSame } from './preconditions.ts';
import {
  completeObject,
  newObject,
  replacedPart,
  withGeneration,
  withLiveMeta,
  writablePart,
} from './prepare-object.ts';
import { readApplied, readGiven } from './read-given.ts';
import { apiVersionOf, type ResourceDefinition } from './resource-definition.ts';
import { alreadyExists, badRequest, conflict, notFound, StatusError } from './status-error.ts';
import type { Store } from './store.ts';
import { wholeSeconds } from './times.ts';
import type { WriteOptions } from './write-options.ts';

/** The result of a write. */
export interface Written {
  readonly created: boolean;
  readonly stored: Stored;
  readonly warnings: readonly string[];
}

/** Writes the objects of one resource, by the rules that the API server has for all resources. */
export class ObjectWriter {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #definition: ResourceDefinition;
  readonly #now: () => number;

  constructor(store: Store, definition: ResourceDefinition, now: () => number) {
    this.#store = store;
    this.#collection = store.collection(definition);
    this.#definition = definition;
    this.#now = now;
  }

  create(body: Json | undefined, options: WriteOptions): Written {
    const { object, warnings } = readGiven(this.#definition, body, options);
    if (object.metadata.resourceVersion !== undefined) {
      throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
    }
    const stored = this.#insert(object, options, (complete) =>
      recordUpdate(
        this.#definition,
        { before: undefined, after: complete },
        writerOf(options, 'Update'),
        this.#time(),
      ),
    );
    return { created: true, stored, warnings };
  }

  replace(body: Json | undefined, options: WriteOptions): Written {
    const live = this.#collection.get(options.namespace, options.name);
    if (live === undefined) return this.#createInstead(body, options);
    const { object, warnings } = readGiven(this.#definition, body, options);
    assertCurrent(this.#definition, live.object, object.metadata);
    const given = { live: live.object, given: object };
    const next = replacedPart(this.#definition, given, options.subresource);
    const after = this.#complete(next, live.object);
    const owned = recordUpdate(
      this.#definition,
      { before: live.object, after },
      writerOf(options, 'Update'),
      this.#time(),
    );
    return { created: false, stored: this.#settle(live, owned, options), warnings };
  }

  /** JSON merge patch (RFC 7386). */
  patchByMerge(patch: Json | undefined, options: WriteOptions): Written {
    if (!isObject(patch)) throw badRequest('error decoding patch: it has to be an object');
    return this.replace(mergePatch(this.#existing(options).object, patch), options);
  }

  /** JSON Patch (RFC 6902). */
  patchByOperations(patch: Json | undefined, options: WriteOptions): Written {
    return this.replace(jsonPatch(this.#existing(options).object, patch), options);
  }

  /** Server-side apply. */
  apply(patch: Json | undefined, options: WriteOptions & { readonly force: boolean }): Written {
    const applied = readApplied(this.#definition, patch, options);
    const wanted = writablePart(this.#definition, applied, options.subresource);
    const how = {
      writer: writerOf(options, 'Apply'),
      force: options.force,
      time: this.#time(),
    };
    const live = this.#collection.get(options.namespace, options.name);
    if (live === undefined) {
      if (options.subresource !== '') throw notFound(this.#definition, options.name);
      const nothing = emptyObject(this.#definition, applied.metadata);
      const object = applyTo(this.#definition, nothing, wanted, how);
      return { created: true, stored: this.#insert(object, options), warnings: [] };
    }
    assertSame(this.#definition, live.object, applied.metadata);
    const next = applyTo(this.#definition, live.object, wanted, how);
    const stored = this.#settle(live, this.#complete(next, live.object), options);
    return { created: false, stored, warnings: [] };
  }

  #existing({ namespace, name }: WriteOptions): Stored {
    const live = this.#collection.get(namespace, name);
    if (live === undefined) throw notFound(this.#definition, name);
    return live;
  }

  #createInstead(body: Json | undefined, options: WriteOptions): Written {
    if (!this.#definition.createOnUpdate || options.subresource !== '') {
      throw notFound(this.#definition, options.name);
    }
    const object = isObject(body) ? body : {};
    const metadata = objectAt(object, 'metadata');
    // The UID names one object, not any object of that name.
    if (textAt(metadata, 'uid') !== '') {
      const why = `Precondition failed: UID in precondition: ${textAt(metadata, 'uid')}, UID in object meta: `;
      throw conflict(this.#definition, options.name, why);
    }
    return this.create({ ...object, metadata: without(metadata, 'resourceVersion') }, options);
  }

  #complete(next: ApiObject, live: ApiObject): ApiObject {
    return completeObject(this.#definition, withLiveMeta(next, live), live);
  }

  #insert(
    given: ApiObject,
    { dryRun }: WriteOptions,
    owned: (complete: ApiObject) => ApiObject = (complete) => complete,
  ): Stored {
    const object = newObject(this.#definition, given, this.#now());
    assertNamespaceTakes(this.#store, this.#definition, object.metadata);
    const complete = owned(completeObject(this.#definition, object, undefined));
    const { namespace = '', name } = complete.metadata;
    if (this.#collection.get(namespace, name) !== undefined) {
      throw alreadyExists(this.#definition, name);
    }
    return dryRun ? unsaved(complete) : this.#collection.put(complete);
  }

  /** Stores the changed object, unless nothing changed; removes it if it only waited for that. */
  #settle(live: Stored, given: ApiObject, { dryRun }: WriteOptions): Stored {
    const next = withGeneration(this.#definition, live.object, given);
    if (isEqual(live.object, next)) return live;
    if (dryRun) return unsaved(next);
    const { deletionTimestamp, finalizers = [] } = next.metadata;
    const isGone = deletionTimestamp !== undefined && finalizers.length === 0;
    return isGone ? this.#collection.delete(next) : this.#collection.put(next);
  }

  #time(): string {
    return wholeSeconds(this.#now());
  }
}

function writerOf(options: WriteOptions, operation: Writer['operation']): Writer {
  return { manager: options.manager, subresource: options.subresource, operation };
}

function emptyObject(definition: ResourceDefinition, metadata: ObjectMeta): ApiObject {
  const { name, namespace } = metadata;
  return {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
  };
}

function unsaved(object: ApiObject): Stored {
  return { object, text: JSON.stringify(object) };
}
