/**
 * Controls, format characters (those that turn the direction of text among them), lone surrogates,
 * private use, line and paragraph separators: nothing a name needs, all that can make a page lie.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** Text of a stranger's made fit for a page or a log line: visible, on one line, trimmed. */
export function printableText(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(INVISIBLE, '').trim();
}
