/**
 * Controls, format characters (such as those that reverse the direction of text), lone surrogates,
 * private use, line and paragraph separators, and letters that look like nothing. No name needs them, and they
 * can make a page mislead.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Attack: marks that are stacked on one letter are drawn over other lines, such as the target of the redirect. */
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu;

/** Returns text of a stranger that is safe on a page or a log line: visible, on one line, trimmed. */
export function printableText(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(INVISIBLE, '').replace(STACKED_MARKS, '$1').trim();
}
