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
  const pending: DescribedValue[] = [{ schema, value: document, path: '' }];
  let count = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const members = membersOf(next.value);
    count += members.length;
    if (count > MAX_VALUES) return { path: next.path, message: 'has too many members' };
    for (const [name, value] of members) {
      const described = memberSchema(next.schema, name);
      if (described === undefined) continue;
      pending.push({ schema: described, value, path: memberPath(next.path, name) });
    }
  }
  return undefined;
}
