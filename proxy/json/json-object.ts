/** A parsed JSON object. Its keys may be any text, such as `__proto__`: read members by `member`. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns an own member of an object; undefined if it is absent. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Finds a key that is one of `names` only for a parser that ignores case. Go's parser does, and accepts
 * `Name`, and even `paramſ`.
 */
export function findCaseVariant(object: JsonObject, names: readonly string[]): string | undefined {
  for (const key of Object.keys(object)) {
    if (names.includes(key)) continue;
    for (const name of names) if (isCaseVariant(key, name)) return name;
  }
  return undefined;
}

function isCaseVariant(key: string, name: string): boolean {
  return key.length === name.length && foldCase(key) === foldCase(name);
}

/** Folds both ways: some letters, such as the long s, change in one direction only. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}
