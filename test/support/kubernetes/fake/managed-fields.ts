import type { ApiObject, ManagedFieldsEntry } from './api-object.ts';
import { FieldSet } from './field-set.ts';
import { compare } from './fields-of.ts';
import { without, type JsonObject } from './json.ts';
import { apiVersionOf, type ResourceDefinition } from './resource-definition.ts';

/** The writer of fields, and its way of writing. */
export interface Writer {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string;
}

/** A writer, and the fields it owns. */
export interface Owner extends Writer {
  readonly apiVersion: string;
  readonly time: string;
  readonly fields: FieldSet;
}

export function ownersOf({ metadata }: ApiObject): readonly Owner[] {
  return (metadata.managedFields ?? []).map(({ fieldsV1, subresource = '', ...entry }) => ({
    ...entry,
    subresource,
    fields: FieldSet.fromFields(fieldsV1),
  }));
}

/** Returns the object with its owners in `managedFields`; those that own nothing are left out. */
export function withOwners(object: ApiObject, owners: readonly Owner[]): ApiObject {
  const managedFields = owners
    .filter(({ fields }) => !fields.isEmpty)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    .map(entryOf);
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/** Orders owners independently of who wrote last, so that equal objects stay equal. */
function placeOf({ operation, manager, subresource }: Writer): string {
  return [operation, manager, subresource].join('\n');
}

function entryOf({ manager, operation, apiVersion, time, fields, subresource }: Owner) {
  return {
    manager,
    operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: fields.toFields(),
    ...(subresource !== '' && { subresource }),
  } satisfies ManagedFieldsEntry;
}

export function isSameWriter(a: Writer, b: Writer): boolean {
  return a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource;
}

/**
 * Records the owners of fields after an object was created or changed other than by apply: the writer
 * owns the fields that it changed, and removed fields have no owner.
 */
export function recordUpdate(
  definition: ResourceDefinition,
  { before, after }: { readonly before: ApiObject | undefined; readonly after: ApiObject },
  writer: Writer,
  time: string,
): ApiObject {
  const old = before && ownable(before);
  const { written, removed } = compare(definition.schema, old ?? {}, ownable(after));
  const owners = before === undefined ? [] : ownersOf(before);
  const gone = written.union(removed);
  const others = owners
    .filter((owner) => !isSameWriter(owner, writer))
    .map((owner) => lessFields(owner, gone));
  const own = owners.find((owner) => isSameWriter(owner, writer));
  const fields = (own?.fields ?? FieldSet.empty).difference(removed).union(written);
  const changed = gone.isEmpty ? [] : [ownerOf(definition, writer, { fields, time })];
  return withOwners(after, [...others, ...(changed.length > 0 ? changed : own ? [own] : [])]);
}

export function lessFields(owner: Owner, fields: FieldSet): Owner {
  return { ...owner, fields: owner.fields.difference(fields) };
}

export function ownerOf(
  definition: ResourceDefinition,
  { manager, operation, subresource }: Writer,
  { fields, time }: { readonly fields: FieldSet; readonly time: string },
): Owner {
  return { manager, operation, subresource, apiVersion: apiVersionOf(definition), time, fields };
}

const UNOWNED_METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
];

/** Returns an object without its identity and the fields that only the API server writes. */
export function ownable(object: JsonObject & Pick<ApiObject, 'metadata'>): JsonObject {
  const metadata = without(object.metadata, ...UNOWNED_METADATA);
  const rest = without(object, 'apiVersion', 'kind', 'metadata');
  return Object.keys(metadata).length === 0 ? rest : { ...rest, metadata };
}
