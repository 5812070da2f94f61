import type { CrdSchema } from '../../../crds/crd-schema.ts';

/** A JSON schema. ajv validates by it, and types are generated from it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Converts a structural schema to a JSON schema. As for `kubectl apply`, unknown fields are errors,
 * except where the structural schema preserves them.
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

/** Whether a JSON schema leaves a keyword out. ajv does not know every `format`; patterns imply ours. */
function isForKubernetesOnly(keyword: string): boolean {
  return keyword.startsWith('x-kubernetes-') || keyword === 'format';
}
