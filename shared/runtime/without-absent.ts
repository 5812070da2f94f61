/** Returns an object without its undefined members, which would hide those of another one. */
export function withoutAbsent<T extends object>(members: {
  readonly [Name in keyof T]: T[Name] | undefined;
}): T {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  // What may be absent is optional in T.
  return Object.fromEntries(present) as T;
}
