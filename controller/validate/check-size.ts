import type { CrdSchema } from '../../crds/crd-schema.ts';
import type { SchemaProblem } from './check-schema.ts';
import { memberSchema, membersOf, type DescribedValue } from './described-value.ts';
import { memberPath } from './field-path.ts';

/** Far more than any valid document has. */
const MAX_VALUES = 10_000;

/**
 * Returns the problem of a document with too many values to check; undefined if they are few enough.
 * Values that the schema does not describe are counted without their members.
 *
 * Attack: an object with a hundred thousand unknown fields would produce as many problems, and delay
 * every other resource.
 */
export function sizeProblem(schema: CrdSchema, document: unknown): SchemaProblem | undefined {
  const parts: DescribedValue[] = [{ schema, value: document, path: '' }];
  let count = 0;
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const members = membersOf(part.value);
    count += members.length;
    if (count > MAX_VALUES) return { path: part.path, message: 'has too many members' };
    for (const [name, value] of members) {
      const schema = memberSchema(part.schema, name);
      if (schema !== undefined) parts.push({ schema, value, path: memberPath(part.path, name) });
    }
  }
  return undefined;
}
