import type { CrdSchema } from '../../../../crds/crd-schema.ts';
import type { Json } from './json.ts';

/** What a schema says to Kubernetes alone. */
type Extensions = Pick<CrdSchema, Extract<keyof CrdSchema, `x-kubernetes-${string}`>>;

/** What a value may be: a structural schema, or what the API server knows of its own types. */
export interface Schema extends Extensions {
  /** Absent for values of any kind. */
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly default?: Json;
}

/** The schema of a member of an object; undefined when the schema does not know the member. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  return properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}
