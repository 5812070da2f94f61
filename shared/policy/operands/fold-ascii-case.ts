const UPPER_CASE = /[A-Z]/;

/**
 * Makes ASCII letters lower case, and leaves all others as they are: the Kelvin sign would otherwise
 * become a `k`, and two different addresses would be equal.
 */
export function foldAsciiCase(text: string): string {
  // Nearly every text is in lower case, and to find that costs half of replacing nothing.
  if (!UPPER_CASE.test(text)) return text;
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
