/** Returns a function that calls `make` once for each object, and remembers its result. */
export function oncePerObject<Source extends object, Made>(
  make: (source: Source) => Made,
): (source: Source) => Made {
  const made = new WeakMap<Source, { readonly value: Made }>();
  return (source) => {
    const known = made.get(source);
    if (known !== undefined) return known.value;
    const value = make(source);
    made.set(source, { value });
    return value;
  };
}
