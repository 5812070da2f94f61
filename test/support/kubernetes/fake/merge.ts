import type { FieldSet } from './field-set.ts';
import { elementsOf } from './fields-of.ts';
import { isList, isObject, type Json } from './json.ts';
import type { Schema } from './schema.ts';

/** Returns a value after another is applied to it: fields that are not named stay. */
export function mergeApplied(
  schema: Schema | undefined,
  live: Json | undefined,
  applied: Json,
): Json {
  const before = live === undefined ? undefined : elementsOf(schema, live);
  const added = elementsOf(schema, applied);
  const isSameKind = isList(live ?? null) === isList(applied);
  if (before === undefined || added === undefined || !isSameKind) return applied;
  const merged = new Map([...before].map(([name, { value }]) => [name, value]));
  for (const [name, element] of added) {
    merged.set(name, mergeApplied(element.schema, merged.get(name), element.value));
  }
  return assemble(applied, merged);
}

/** Returns a value without some of its fields; undefined if nothing is left. */
export function removeFields(
  schema: Schema | undefined,
  value: Json,
  fields: FieldSet,
): Json | undefined {
  if (fields.isEmpty) return value;
  const elements = elementsOf(schema, value);
  if (fields.hasSelf || elements === undefined) return undefined;
  const left = new Map<string, Json>();
  for (const [name, element] of elements) {
    const kept = removeFields(element.schema, element.value, fields.child(name));
    if (kept !== undefined) left.set(name, kept);
  }
  return left.size === 0 ? undefined : assemble(value, left);
}

/** The list or object of some elements. */
function assemble(like: Json, elements: ReadonlyMap<string, Json>): Json {
  if (!isObject(like)) return [...elements.values()];
  return Object.fromEntries(
    [...elements].map(([name, value]) => [name.slice('f:'.length), value] as const),
  );
}
