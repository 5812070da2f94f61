import type { CrdSchema } from '../../../../crds/crd-schema.ts';
import type { Json } from './json.ts';

/** Keywords of a schema that only Kubernetes has. */
type Extensions = Pick<CrdSchema, Extract<keyof CrdSchema, `x-kubernetes-${string}`>>;

/** A structural schema, or a description of the API server's own types. */
export interface Schema extends Extensions {
  /** Absent for values of any kind. */
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly default?: Json;
}

/** Returns the schema of a member of an object; undefined if the schema does not have it. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  return properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}
