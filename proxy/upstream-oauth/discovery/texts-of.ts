/** Returns a member of metadata that is a list of texts; undefined if it is something else. */
export function textsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((item) => typeof item === 'string') ? value : undefined;
}
