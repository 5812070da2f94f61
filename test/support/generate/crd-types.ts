import { compile } from 'json-schema-to-typescript';

import { jsonSchemaOf, type JsonSchema } from '../../../controller/validate/schemas/json-schema.ts';
import { API_VERSION, type ResourceKind } from '../../../crds/crd-schema.ts';
import { readCrdSchema } from '../../../crds/read-crd-schema.ts';

const METADATA: JsonSchema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string' },
    namespace: { type: 'string' },
    uid: { type: 'string' },
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

/** Returns the types of the resources that the definitions define. */
export async function crdTypes(): Promise<string> {
  return [await typeOf('Route'), await typeOf('GatewaySettings')].join('\n\n');
}

async function typeOf(kind: ResourceKind): Promise<string> {
  const schema = readCrdSchema(kind);
  const { properties, ...rest } = jsonSchemaOf({
    ...schema,
    required: ['apiVersion', 'kind', 'metadata', ...(schema.required ?? [])],
  });
  const type = {
    ...rest,
    properties: {
      ...(properties as JsonSchema),
      apiVersion: { const: API_VERSION },
      kind: { const: kind },
      metadata: METADATA,
    },
  };
  const text = await compile(type, kind, { bannerComment: '', ignoreMinAndMaxItems: true });
  return readonlyMembers(text);
}

/** Makes all members and lists of a formatted interface read-only. */
function readonlyMembers(text: string): string {
  return text
    .replaceAll(/^(\s+)(\[k: string\]|\w+\??): /gm, '$1readonly $2: ')
    .replaceAll(/: (\w+|\([^()]*\))\[\];$/gm, ': readonly $1[];')
    .replaceAll(/^(\s+)(readonly \w+\??): (\{\n(?:\1\s.*\n)*\1\}\[\];)$/gm, '$1$2: readonly $3');
}
