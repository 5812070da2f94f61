type Json = Readonly<Record<string, unknown>>;

/**
 * Moves parts that a schema holds more than once to `$defs`, so that the code of their check is made
 * once. Parts are the same if they are the same object.
 */
export function shareRepeated(schema: Json): Json {
  const counts = new Map<Json, number>();
  count(schema, counts);
  const names = new Map(
    [...counts]
      .filter(([part, uses]) => uses > 1 && isLarge(part))
      .map(([part], index) => [part, `part${String(index)}`]),
  );
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reference);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, reference(each)]));
  };
  const reference = (value: unknown): unknown => {
    const name = isObject(value) ? names.get(value) : undefined;
    return name === undefined ? rewrite(value) : { $ref: `#/$defs/${name}` };
  };
  const definitions = [...names].map(([part, name]) => [name, rewrite(part)]);
  return { ...(rewrite(schema) as Json), $defs: Object.fromEntries(definitions) };
}

/** A reference to a part without members or items would be more code than the part. */
function isLarge({ type }: Json): boolean {
  return type === 'object' || type === 'array';
}

function count(value: unknown, counts: Map<Json, number>): void {
  if (Array.isArray(value)) {
    for (const item of value) count(item, counts);
    return;
  }
  if (!isObject(value)) return;
  const before = counts.get(value) ?? 0;
  counts.set(value, before + 1);
  if (before > 0) return;
  for (const member of Object.values(value)) count(member, counts);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
