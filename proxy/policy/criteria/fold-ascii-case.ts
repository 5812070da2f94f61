/**
 * Makes ASCII letters lower case, and leaves all others as they are: the Kelvin sign would otherwise
 * become a `k`, and two different addresses would be equal.
 */
export function foldAsciiCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
