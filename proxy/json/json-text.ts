const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** The keys in a JSON text. */
export interface KeyCount {
  /** Number of members of all objects, duplicates included: each has one colon outside of strings. */
  readonly members: number;
  /** A key is written with an escape. */
  readonly hasEscapes: boolean;
}

/** Counts the keys of a text that is known to be JSON. */
export function countKeys(text: string): KeyCount {
  let members = 0;
  let hasEscapes = false;
  let opening = 0;
  let closing = 0;
  let backslash = text.indexOf('\\');
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      opening = index;
      closing = index = closingQuote(text, opening);
    } else if (code === COLON) {
      members++;
      if (backslash !== -1 && backslash < opening) backslash = text.indexOf('\\', opening);
      hasEscapes ||= backslash !== -1 && backslash < closing;
    }
  }
  return { members, hasEscapes };
}

/** Returns the index of the quote that closes the string which opens at `opening`. */
export function closingQuote(text: string, opening: number): number {
  let closing = text.indexOf('"', opening + 1);
  while (isEscaped(text, closing)) closing = text.indexOf('"', closing + 1);
  return closing;
}

function isEscaped(text: string, index: number): boolean {
  let start = index;
  while (text.charCodeAt(start - 1) === BACKSLASH) start--;
  return (index - start) % 2 === 1;
}
