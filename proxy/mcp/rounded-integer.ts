/** A string, or a number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const PLAIN_INTEGER = /^-?\d+$/;

/** A double holds every decimal number of so many digits. */
const EXACT_DIGITS = 15;

/**
 * Returns whether a number in a JSON text is an integer only because a double cannot hold all of its
 * digits.
 *
 * Attack: policy reads 0.99999999999999999999 as 1, and a server with decimal numbers does not. Integers
 * beyond those that a double holds are not read as numbers at all.
 */
export function hasRoundedInteger(json: string): boolean {
  for (const [token] of json.matchAll(TOKEN)) {
    if (token.startsWith('"') || token.length <= EXACT_DIGITS || PLAIN_INTEGER.test(token))
      continue;
    if (Number.isSafeInteger(Number(token))) return true;
  }
  return false;
}
