import type { CrdSchema } from './crd-schema.ts';

/** A JSON schema: what ajv checks, and what types are generated from. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON schema of a structural schema, closed as `kubectl apply` closes it: unknown fields are
 * errors, save where the structural schema preserves them.
 */
export function jsonSchemaOf(schema: CrdSchema): JsonSchema {
  const { properties, items, additionalProperties, ...rest } = schema;
  const keywords = Object.entries(rest).filter(([name]) => !isForKubernetesOnly(name));
  return {
    ...Object.fromEntries(keywords),
    ...(items && { items: jsonSchemaOf(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, jsonSchemaOf(member)]),
      ),
    }),
    ...(schema.type === 'object' && {
      additionalProperties: additionalProperties
        ? jsonSchemaOf(additionalProperties)
        : schema['x-kubernetes-preserve-unknown-fields'] === true,
    }),
  };
}

/** `format` included: the API server knows formats that ajv does not, and ours are all implied. */
function isForKubernetesOnly(keyword: string): boolean {
  return keyword.startsWith('x-kubernetes-') || keyword === 'format';
}
