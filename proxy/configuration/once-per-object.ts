/** Makes a function that makes something of an object once, and returns the same for it ever after. */
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
