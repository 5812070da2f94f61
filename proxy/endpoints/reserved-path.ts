const SLASH = '(?:/|%2f|%5c)';
const RESERVED_NAME = '.gateway'.replace(/./g, anySpelling);
const RESERVED = new RegExp(`^${SLASH}+${RESERVED_NAME}(?:$|;|%3b|${SLASH})`, 'i');

/**
 * Returns whether a path is `/.gateway` or below it.
 *
 * These paths belong to the gateway on every host (specification: Endpoints), in every spelling that some
 * upstream reads as them: encoded, in capitals, after several slashes, with parameters.
 */
export function isReservedPath(path: string): boolean {
  return RESERVED.test(path);
}

function anySpelling(character: string): string {
  const codes = [character, character.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
  return `(?:[${character}]|%${codes.join('|%')})`;
}
