/** A character that has no place in a configuration, and where it is. */
export interface ForbiddenCharacter {
  readonly offset: number;
  /** `U+0000`. */
  readonly name: string;
}

/** YAML 1.2, section 5.1: what is not printable. In JavaScript a half of a pair is a character too. */
const NOT_PRINTABLE = /[^\t\n\r\x20-\x7E\x85\u{A0}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/**
 * Characters of a value that only a mistake puts there: what YAML does not allow, the replacement
 * character of a wrong decoder, and a byte order mark, which nobody sees.
 */
const NOT_A_VALUE =
  /[^\t\n\r\x20-\x7E\x85\u{A0}-\u{D7FF}\u{E000}-\u{FEFE}\u{FF00}-\u{FFFC}\u{10000}-\u{10FFFF}]/u;

/** Finds the first character that YAML forbids, even in quotes. */
export function findUnprintable(text: string): ForbiddenCharacter | undefined {
  return find(NOT_PRINTABLE, text);
}

/** Finds the first character that a value cannot mean, such as an escaped NUL. */
export function findUnmeant(text: string): ForbiddenCharacter | undefined {
  return find(NOT_A_VALUE, text);
}

function find(pattern: RegExp, text: string): ForbiddenCharacter | undefined {
  const offset = text.search(pattern);
  const code = text.codePointAt(offset);
  if (offset === -1 || code === undefined) return undefined;
  return { offset, name: `U+${code.toString(16).toUpperCase().padStart(4, '0')}` };
}
