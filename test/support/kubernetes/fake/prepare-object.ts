import { randomInt, randomUUID } from 'node:crypto';

import type { ApiObject, ObjectMeta } from './api-object.ts';
import { withDefaults } from './defaults.ts';
import { isEqual, without, type Json, type JsonObject } from './json.ts';
import { validateMeta } from './object-meta.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { invalid } from './status-error.ts';
import { wholeSeconds } from './times.ts';

/** Returns a new object from the one in a request: with a name, a UID and a date. */
export function newObject(
  definition: ResourceDefinition,
  given: ApiObject,
  now: number,
): ApiObject {
  const object = writablePart(definition, given, '');
  const { namespace, generateName, name } = object.metadata;
  const metadata = {
    ...settableMeta(object.metadata),
    name: name === '' && generateName !== undefined ? generatedName(generateName) : name,
    generateName,
    namespace,
    uid: randomUUID(),
    creationTimestamp: wholeSeconds(now),
    ...(definition.hasGeneration && { generation: 1 }),
  };
  // It has a name, and undefined members are left out.
  return { ...object, metadata: without(metadata) as ObjectMeta };
}

/** Returns the object with all its defaults. Throws if it is not valid. */
export function completeObject(
  definition: ResourceDefinition,
  given: ApiObject,
  old: ApiObject | undefined,
): ApiObject {
  const complete = definition.complete(given, old);
  const object = definition.custom ? withDefaults(definition.schema, complete) : complete;
  const causes = [...validateMeta(definition, object, old), ...definition.validate(object, old)];
  if (causes.length > 0) throw invalid(definition, object.metadata.name, causes);
  return object;
}

/** Returns the part that a request may write: everything but `status`, or `status` alone. */
export function writablePart(
  { hasStatus }: ResourceDefinition,
  object: ApiObject,
  subresource: string,
): ApiObject {
  const { apiVersion, kind, metadata, status } = object;
  if (subresource === 'status') {
    const name = { name: metadata.name };
    return { apiVersion, kind, metadata: name, ...(status !== undefined && { status }) };
  }
  // `apiVersion`, `kind` and `metadata` stay.
  return hasStatus ? (without(object, 'status') as ApiObject) : object;
}

/** Returns an object after a client replaced the part that it may write. */
export function replacedPart(
  { hasStatus }: ResourceDefinition,
  { live, given }: { readonly live: ApiObject; readonly given: ApiObject },
  subresource: string,
): ApiObject {
  const isStatus = subresource === 'status';
  const status = isStatus || !hasStatus ? given.status : live.status;
  // `apiVersion`, `kind` and `metadata` stay.
  const rest = without(isStatus ? live : given, 'status') as ApiObject;
  return { ...rest, ...(status !== undefined && { status }) };
}

/** Returns the object with the metadata that only the API server writes, whatever a client sends. */
export function withLiveMeta(given: ApiObject, { metadata: live }: ApiObject): ApiObject {
  // Both have a name, and undefined members are left out.
  const metadata = without({ ...live, ...settableMeta(given.metadata) }) as ObjectMeta;
  return { ...given, metadata };
}

/** Returns the metadata that clients may write. Empty members are the same as absent ones. */
function settableMeta(metadata: ObjectMeta): JsonObject {
  const { labels, annotations, finalizers, ownerReferences, managedFields } = metadata;
  const settable = { labels, annotations, finalizers, ownerReferences, managedFields };
  const isSaid = (value: Json | undefined): boolean => Object.keys(value ?? {}).length > 0;
  return Object.fromEntries(
    Object.entries(settable).map(([name, value]) => [name, isSaid(value) ? value : undefined]),
  );
}

/** Raises the generation if more than `metadata` and `status` changed. */
export function withGeneration(
  { hasGeneration, hasStatus }: ResourceDefinition,
  live: ApiObject,
  next: ApiObject,
): ApiObject {
  if (!hasGeneration) return next;
  const uncounted = ['metadata', ...(hasStatus ? ['status'] : [])];
  if (isEqual(without(live, ...uncounted), without(next, ...uncounted))) return next;
  const generation = (live.metadata.generation ?? 0) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;

function generatedName(prefix: string): string {
  const letters = Array.from(
    { length: SUFFIX_LENGTH },
    () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)],
  );
  return `${prefix}${letters.join('')}`;
}
