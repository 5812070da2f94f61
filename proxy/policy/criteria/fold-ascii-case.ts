/**
 * Makes ASCII letters lower case, and leaves all others as they are: the Kelvin sign would otherwise
 * become a `k`, and one address another's.
 */
export function foldAsciiCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
