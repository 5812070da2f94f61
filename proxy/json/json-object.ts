/** An object of parsed JSON. Keys may be anything, `__proto__` too: read members by `member`. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A member that the object itself has; undefined when it has none of that name. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Finds a key that is one of `names` to a parser that ignores case, and is none to one that does
 * not. Some parsers do: Go's takes `Name`, and even `paramſ`.
 */
export function findCaseVariant(object: JsonObject, names: readonly string[]): string | undefined {
  for (const key of Object.keys(object)) {
    const name = names.includes(key) ? undefined : names.find((one) => isCaseVariant(key, one));
    if (name !== undefined) return name;
  }
  return undefined;
}

function isCaseVariant(key: string, name: string): boolean {
  return key.length === name.length && foldCase(key) === foldCase(name);
}

/** Both ways, for letters with one of the two only: the long s has no other lower case than itself. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}
