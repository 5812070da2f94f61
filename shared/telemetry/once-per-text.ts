/** Strangers choose some of the texts: their number and their length are bounded. */
const MAX_TEXTS = 1_024;
const MAX_LENGTH = 128;

/** Returns a function that calls `make` once for each of the short texts that come again and again. */
export function oncePerText(make: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (text.length > MAX_LENGTH) return make(text);
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const made = make(text);
    if (known.size === MAX_TEXTS) known.clear();
    known.set(text, made);
    return made;
  };
}
