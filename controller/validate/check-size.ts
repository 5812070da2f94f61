import type { CrdSchema } from '../../crds/crd-schema.ts';
import type { SchemaProblem } from './check-schema.ts';
import { memberPath } from './field-path.ts';

/** Far more than any valid document has. */
const MAX_VALUES = 10_000;

interface Part {
  readonly schema: CrdSchema;
  readonly value: unknown;
  readonly path: string;
}

/**
 * The problem of a document with too many values to check; undefined if it has not too many. Of what
 * the schema does not describe only the names count.
 *
 * Attack: an object with a hundred thousand unknown fields would produce as many problems, and delay
 * every other resource.
 */
export function sizeProblem(schema: CrdSchema, document: unknown): SchemaProblem | undefined {
  const parts: Part[] = [{ schema, value: document, path: '' }];
  let count = 0;
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const members = membersOf(part.value);
    count += members.length;
    if (count > MAX_VALUES) return { path: part.path, message: 'has too many members' };
    for (const [name, value] of members) {
      const memberSchema = schemaOf(part.schema, name);
      if (memberSchema !== undefined) {
        parts.push({ schema: memberSchema, value, path: memberPath(part.path, name) });
      }
    }
  }
  return undefined;
}

function membersOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()];
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function schemaOf(
  { properties, additionalProperties, items }: CrdSchema,
  name: string | number,
): CrdSchema | undefined {
  if (typeof name === 'number') return items;
  return properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}
