import { FieldSet } from './field-set.ts';
import { isEqual, isList, isObject, type Json } from './json.ts';
import { listItems } from './list-items.ts';
import { memberSchema, type Schema } from './schema.ts';

/** The fields that a value sets. Objects and lists count themselves only if they are empty. */
export function fieldsOf(schema: Schema | undefined, value: Json): FieldSet {
  return fields(schema, value, false);
}

/** The fields of a value, with the objects that hold them. */
function fieldsWithHolders(schema: Schema | undefined, value: Json): FieldSet {
  return fields(schema, value, true);
}

/** The differences between two values. */
export interface Difference {
  /** Fields that were added or have a changed value. */
  readonly written: FieldSet;
  readonly removed: FieldSet;
}

export function compare(
  schema: Schema | undefined,
  before: Json | undefined,
  after: Json | undefined,
): Difference {
  if (before === after) return { written: FieldSet.empty, removed: FieldSet.empty };
  if (before === undefined || after === undefined) {
    return {
      written: after === undefined ? FieldSet.empty : fieldsWithHolders(schema, after),
      removed: before === undefined ? FieldSet.empty : fieldsWithHolders(schema, before),
    };
  }
  const left = elementsOf(schema, before);
  const right = elementsOf(schema, after);
  if (left === undefined || right === undefined) {
    const written = isEqual(before, after) ? FieldSet.empty : FieldSet.leaf;
    return { written, removed: FieldSet.empty };
  }
  const differences = [...new Set([...left.keys(), ...right.keys()])].map((name) => {
    const member = right.get(name) ?? left.get(name);
    const difference = compare(member?.schema, left.get(name)?.value, right.get(name)?.value);
    return [name, difference] as const;
  });
  return {
    written: FieldSet.of(differences.map(([name, { written }]) => [name, written])),
    removed: FieldSet.of(differences.map(([name, { removed }]) => [name, removed])),
  };
}

function fields(schema: Schema | undefined, value: Json, withHolders: boolean): FieldSet {
  const elements = elementsOf(schema, value);
  if (elements === undefined || elements.size === 0) return FieldSet.leaf;
  const children = [...elements].map(([name, element]) => {
    const inner = fields(element.schema, element.value, withHolders);
    // An item of a list is owned itself, besides its fields.
    return [name, name.startsWith('f:') ? inner : inner.union(FieldSet.leaf)] as const;
  });
  return FieldSet.of(children, withHolders);
}

/** Returns the separately owned parts of a value; undefined if it is owned as a whole. */
export function elementsOf(
  schema: Schema | undefined,
  value: Json,
): ReadonlyMap<string, { readonly value: Json; readonly schema: Schema | undefined }> | undefined {
  if (isList(value)) return listItems(schema, value);
  if (!isObject(value)) return undefined;
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined
      ? []
      : [[`f:${name}`, { value: member, schema: memberSchema(schema, name) }] as const],
  );
  return new Map(members);
}
