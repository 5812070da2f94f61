import { randomInt, randomUUID } from 'node:crypto';

import type { ApiObject, ObjectMeta } from './api-object.ts';
import { withDefaults } from './defaults.ts';
import { isEqual, without, type Json, type JsonObject } from './json.ts';
import { validateMeta } from './object-meta.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { invalid } from './status-error.ts';
import { wholeSeconds } from './times.ts';

/** What an object is that a client asks to create: with a name, an identity and a date. */
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
  // It has a name, and what is undefined is left out.
  return { ...object, metadata: without(metadata) as ObjectMeta };
}

/** The object with all its defaults. Throws when it is not valid. */
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

/** What a request may write: everything but `status`, or `status` alone. */
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

/** What becomes of an object when a client replaces what it may write of it. */
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

/** The object with what only the API server says of it, whatever a client sends. */
export function withLiveMeta(given: ApiObject, { metadata: live }: ApiObject): ApiObject {
  // Both have a name, and what is undefined is left out.
  const metadata = without({ ...live, ...settableMeta(given.metadata) }) as ObjectMeta;
  return { ...given, metadata };
}

/** What clients may say in `metadata`, of which nothing is the same as absent. */
function settableMeta(metadata: ObjectMeta): JsonObject {
  const { labels, annotations, finalizers, ownerReferences, managedFields } = metadata;
  const settable = { labels, annotations, finalizers, ownerReferences, managedFields };
  const isSaid = (value: Json | undefined): boolean => Object.keys(value ?? {}).length > 0;
  return Object.fromEntries(
    Object.entries(settable).map(([name, value]) => [name, isSaid(value) ? value : undefined]),
  );
}

/** Counts the generation on when more than `metadata` and `status` changed. */
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
