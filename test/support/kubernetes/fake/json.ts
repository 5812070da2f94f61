/** A JSON value. Absent members may be undefined. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Narrows to lists; `Array.isArray` does not do so for read-only ones. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Formats a value for a message. */
export function shown(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** Whether two values are equal, whatever the order of members. Undefined means absent. */
export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) =>
    isEqual(a[name], b[name]),
  );
}

/** The object with its members mapped; those mapped to undefined are left out. */
export function mapMembers(
  object: JsonObject,
  map: (value: Json, name: string) => Json | undefined,
): JsonObject {
  const members: Record<string, Json> = {};
  for (const [name, value] of Object.entries(object)) {
    const mapped = value === undefined ? undefined : map(value, name);
    if (mapped !== undefined) members[name] = mapped;
  }
  return members;
}

/** The object without some of its members. */
export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return mapMembers(object, (value, name) => (names.includes(name) ? undefined : value));
}
