import type { ApiObject } from './api-object.ts';
import type { Schema } from './schema.ts';
import type { Cause } from './cause.ts';

/** A type of object that the API server stores, and what is special about it. */
export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Defined by a CustomResourceDefinition: validated by its schema, with other patch types. */
  readonly custom: boolean;
  readonly schema: Schema;
  readonly hasStatus: boolean;
  /** Counts changes of what is neither `metadata` nor `status`. */
  readonly hasGeneration: boolean;
  /** PUT without a `resourceVersion` replaces whatever there is. */
  readonly unconditionalUpdate: boolean;
  /** PUT creates what is not there. */
  readonly createOnUpdate: boolean;
  readonly name: 'subdomain' | 'label' | 'service' | 'path segment';
  /** Fields that selectors can ask for besides the name and the namespace. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>>;
  /** Fills in what clients may leave out. `old` is what the object was before. */
  readonly complete: (object: ApiObject, old: ApiObject | undefined) => ApiObject;
  /** Says what is wrong with an object that has the right shape. */
  readonly validate: (object: ApiObject, old: ApiObject | undefined) => readonly Cause[];
}

export function apiVersionOf({ group, version }: ResourceDefinition): string {
  return group === '' ? version : `${group}/${version}`;
}
