/**
 * Controls, format characters (such as those that reverse the direction of text), lone surrogates,
 * private use, line and paragraph separators. No name needs them, and they can make a page mislead.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Returns text of a stranger that is safe on a page or a log line: visible, on one line, trimmed. */
export function printableText(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(INVISIBLE, '').trim();
}
