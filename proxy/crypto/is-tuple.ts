/**
 * Whether parsed JSON is a list of these types. Of what a seal vouches for, the shape tells tokens of
 * another version apart.
 */
export function isTuple(value: unknown, types: readonly string[]): value is readonly unknown[] {
  return (
    Array.isArray(value) &&
    value.length === types.length &&
    value.every((member, index) => typeof member === types[index])
  );
}
