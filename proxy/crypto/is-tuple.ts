/**
 * Returns whether parsed JSON is a list of values of these types. Sealed values are authentic, so this only
 * distinguishes the formats of different releases.
 */
export function isTuple(value: unknown, types: readonly string[]): value is readonly unknown[] {
  return (
    Array.isArray(value) &&
    value.length === types.length &&
    value.every((member, index) => typeof member === types[index])
  );
}
