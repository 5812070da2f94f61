import { API_VERSION, type CrdSchema, type ResourceKind } from '../../../crds/crd-schema.ts';
import { readCrdSchema } from '../../../crds/read-crd-schema.ts';
import { VALUE_KEY } from '../patterns-in-words.ts';
import { jsonSchemaOf, type JsonSchema } from './json-schema.ts';
import { METADATA_SCHEMA } from './metadata-schema.ts';

/** Returns the schema of a manifest of our own kinds, without `status`. */
export function resourceManifestSchema(kind: ResourceKind): JsonSchema {
  const schema: CrdSchema = readCrdSchema(kind);
  const { spec } = schema.properties ?? {};
  if (spec === undefined) throw new Error(`the definition of ${kind} has no spec`);
  return {
    type: 'object',
    required: ['apiVersion', 'metadata', 'spec'],
    additionalProperties: false,
    properties: {
      apiVersion: { const: API_VERSION },
      kind: { const: kind },
      metadata: METADATA_SCHEMA,
      spec: jsonSchemaOf(spec),
    },
  };
}

const VALUES = {
  type: 'object',
  propertyNames: { type: 'string', minLength: 1, maxLength: 253, pattern: VALUE_KEY },
  additionalProperties: { type: 'string' },
} as const;

/** Schema of the manifest of a core/v1 ConfigMap. */
export const CONFIG_MAP_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['metadata'],
  additionalProperties: false,
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: METADATA_SCHEMA,
    immutable: { type: 'boolean' },
    data: VALUES,
    binaryData: VALUES,
  },
};

/** Schema of the manifest of a core/v1 Secret. */
export const SECRET_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['metadata'],
  additionalProperties: false,
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: METADATA_SCHEMA,
    type: { type: 'string' },
    immutable: { type: 'boolean' },
    data: VALUES,
    stringData: VALUES,
  },
};
