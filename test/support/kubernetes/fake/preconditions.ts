import type { ApiObject, ObjectMeta } from './api-object.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { conflict, invalid, MODIFIED } from './status-error.ts';

/** Throws unless a replacement was made from the present object. */
export function assertCurrent(
  definition: ResourceDefinition,
  live: ApiObject,
  given: ObjectMeta,
): void {
  if (given.resourceVersion === undefined && !definition.unconditionalUpdate) {
    const cause = {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0x0: must be specified for an update',
      field: 'metadata.resourceVersion',
    };
    throw invalid({ group: definition.group, kind: definition.plural }, given.name, [cause]);
  }
  assertSame(definition, live, given);
}

/** Throws if a precondition of a client does not hold. */
export function assertSame(
  definition: ResourceDefinition,
  { metadata }: ApiObject,
  { name, uid, resourceVersion }: ObjectMeta,
): void {
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${String(metadata.uid)}`;
    throw conflict(definition, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(definition, name, MODIFIED);
  }
}
