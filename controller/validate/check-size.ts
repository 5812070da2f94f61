import type { CrdSchema } from '../../crds/crd-schema.ts';
import type { SchemaProblem } from './check-schema.ts';
import { memberPath } from './field-path.ts';

/** Many times what any valid document has. */
const MAX_VALUES = 10_000;

interface Part {
  readonly schema: CrdSchema;
  readonly value: unknown;
  readonly path: string;
}

/**
 * Finds a document that has too many values to be looked at one by one; undefined: it has not. What
 * the schema does not describe counts by its names alone.
 *
 * Attack: an object of a hundred thousand unknown fields is not worth a hundred thousand problems,
 * for which everybody else would wait.
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
