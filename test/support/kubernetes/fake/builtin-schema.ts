import * as client from '@kubernetes/client-node';

import type { Schema } from './schema.ts';

/** Description of a type in the client library, generated from the API server's own description. */
interface Model {
  readonly attributeTypeMap: readonly {
    readonly baseName: string;
    readonly type: string;
    readonly format: string;
  }[];
}

const ANYTHING: ReadonlySet<string> = new Set(['any', 'object', 'IntOrString']);

const known = new Map<string, Schema>();

/** Returns the schema of a type of the API server, such as `V1Secret`, with all types it refers to. */
export function builtinSchema(typeName: string): Schema {
  const schema = known.get(typeName) ?? objectSchema(modelOf(typeName));
  known.set(typeName, schema);
  return schema;
}

function modelOf(typeName: string): Model {
  const model: unknown = Reflect.get(client, typeName);
  if (typeof model !== 'function' || !('attributeTypeMap' in model)) {
    throw new Error(`the client library has no type ${typeName}`);
  }
  // Every generated class has this member.
  return model as unknown as Model;
}

function objectSchema({ attributeTypeMap }: Model): Schema {
  const properties = attributeTypeMap.map(({ baseName, type, format }) => [
    baseName,
    typeSchema(type, format),
  ]);
  // Pairs of a name and a schema.
  return { type: 'object', properties: Object.fromEntries(properties) as Record<string, Schema> };
}

function typeSchema(type: string, format: string): Schema {
  const item = /^Array<(.*)>$/.exec(type)?.[1] ?? /^Set<(.*)>$/.exec(type)?.[1];
  if (item !== undefined) return { type: 'array', items: typeSchema(item, format) };
  const member = /^\{ \[key: string\]: (.*); \}$/.exec(type)?.[1];
  if (member !== undefined) {
    return { type: 'object', additionalProperties: typeSchema(member, format) };
  }
  switch (type) {
    case 'string':
      return { type: 'string', format };
    case 'boolean':
      return { type: 'boolean' };
    case 'number':
      return { type: format.startsWith('int') ? 'integer' : 'number' };
    case 'Date':
    case 'V1MicroTime':
      return { type: 'string', format };
    default:
      return ANYTHING.has(type) ? {} : builtinSchema(type);
  }
}
