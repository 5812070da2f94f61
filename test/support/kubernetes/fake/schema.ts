import type { CelRule } from '../../../../crds/crd-schema.ts';
import type { Json } from './json.ts';

/** What a value may be: a structural schema, or what the API server knows of its own types. */
export interface Schema {
  /** Absent for values of any kind. */
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly default?: Json;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

/** The schema of a member of an object; undefined when the schema does not know the member. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  return properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}
