const ELLIPSIS = '…';

/** Shortens a text to a maximum length. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - ELLIPSIS.length).toWellFormed()}${ELLIPSIS}`;
}
