import type { ApiObject } from './api-object.ts';
import type { Schema } from './schema.ts';
import type { Cause } from './cause.ts';

/** A type of object that the API server stores, and its special rules. */
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
  /** Whether changes other than of `metadata` and `status` raise the generation. */
  readonly hasGeneration: boolean;
  /** Whether PUT without a `resourceVersion` replaces any version. */
  readonly unconditionalUpdate: boolean;
  /** Whether PUT creates a missing object. */
  readonly createOnUpdate: boolean;
  readonly name: 'subdomain' | 'label' | 'service' | 'path segment';
  /** Fields that selectors can name besides the name and the namespace. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>>;
  /** Sets what clients may leave out. `old` is the object before the change. */
  readonly complete: (object: ApiObject, old: ApiObject | undefined) => ApiObject;
  /** Returns the problems of an object that has the right shape. */
  readonly validate: (object: ApiObject, old: ApiObject | undefined) => readonly Cause[];
}

export function apiVersionOf({ group, version }: ResourceDefinition): string {
  return group === '' ? version : `${group}/${version}`;
}
