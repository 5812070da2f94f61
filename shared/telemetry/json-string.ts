/** Above this length, `JSON.stringify` is faster. */
const MAX_PLAIN_LENGTH = 64;

/** Returns a text as the JSON of a log line. Short texts without escapes cost a fraction of the others. */
export function jsonString(text: string): string {
  return isPlain(text) ? `"${text}"` : logJson(text);
}

/**
 * Controls of terminals, ends of lines, and characters that change direction or are not seen: what `JSON.stringify`
 * escapes are only those below U+0020.
 */
const CONTROLS = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/**
 * Returns a value as the JSON of a log line. Attack: a header field with U+0085, where many readers of logs begin a
 * new line, or with U+009B, which steers the terminal of whoever looks.
 */
export function logJson(
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
): string {
  return JSON.stringify(value, replacer).replaceAll(CONTROLS, (control) => {
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const TILDE = 0x7e;

/** Returns whether a text is short, and all of it is printable ASCII that needs no escapes. */
function isPlain(text: string): boolean {
  if (text.length > MAX_PLAIN_LENGTH) return false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < SPACE || code === QUOTE || code === BACKSLASH || code > TILDE) return false;
  }
  return true;
}
