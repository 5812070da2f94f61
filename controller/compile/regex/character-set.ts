/** The characters of request paths: printable ASCII. */
const PATH_CHARACTERS = Array.from({ length: 94 }, (_, index) => String.fromCodePoint(index + 33));

/** A set of path characters: bit i stands for the i-th. */
export type CharacterSet = bigint;

/** The characters that an element of a regular expression, such as `[^/]` or `\d`, matches. */
export function characterSet(source: string): CharacterSet {
  const expression = new RegExp(`^(?:${source})$`, 'u');
  return PATH_CHARACTERS.reduce(
    (set, character, index) => (expression.test(character) ? set | (1n << BigInt(index)) : set),
    0n,
  );
}
