/** The characters of a path, once it is decoded: ASCII. */
export const ALPHABET_SIZE = 128;

/** A set of ASCII characters: bit i stands for the character with code i. */
export type CharacterSet = bigint;

/** How a path is compared with an expression: `loose` ignores case. */
export type Reading = 'exact' | 'loose';

const FLAGS: Readonly<Record<Reading, string>> = { exact: 'u', loose: 'iu' };

/** Characters that stand for themselves outside of a class. */
const PLAIN = /^[\w\-/~!&'%@:;=,#<>"` ]$/;

/** Letters, digits and the underscore: what `\b` looks for. */
export const WORD_CHARACTERS: CharacterSet = setOf('\\w', 'u');

/** Returns the characters that an element of an expression matches, such as `a`, `[^/]` or `\d`. */
export function characterSet(source: string, reading: Reading): CharacterSet {
  if (!PLAIN.test(source)) return setOf(source, FLAGS[reading]);
  const spellings = reading === 'exact' ? [source] : [source.toLowerCase(), source.toUpperCase()];
  return spellings.reduce((set, character) => set | bit(character.charCodeAt(0)), 0n);
}

/** One character at a time: V8 decides what a class means, and has nothing to repeat. */
function setOf(source: string, flags: string): CharacterSet {
  const expression = new RegExp(`^(?:${source})$`, flags);
  let set = 0n;
  for (let code = 0; code < ALPHABET_SIZE; code += 1) {
    if (expression.test(String.fromCharCode(code))) set |= bit(code);
  }
  return set;
}

/** Returns whether a set has the character with this code. */
export function hasCode(set: CharacterSet, code: number): boolean {
  return (set & bit(code)) !== 0n;
}

function bit(code: number): CharacterSet {
  return 1n << BigInt(code);
}
