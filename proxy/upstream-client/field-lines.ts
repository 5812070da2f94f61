import type { ResponseFraming } from './response-framing.ts';
import { MalformedResponseError } from './malformed-response-error.ts';

const HTAB = 9;
const SPACE = 32;
const LINE_BREAK_LENGTH = 2;

/** Characters of names (RFC 9110, section 5.6.2), by code. */
const TOKEN: readonly boolean[] = Array.from({ length: 256 }, (_, code) =>
  /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code)),
);

/**
 * Returns the names and values of the lines of a `FieldSection`, from an index on (RFC 9112, section 5), and
 * has `framing` note them. Throws `MalformedResponseError`.
 */
export function parseFieldLines(text: string, from: number, framing?: ResponseFraming): string[] {
  const fields: string[] = [];
  for (let at = from; at < text.length;) {
    const end = text.indexOf('\r', at);
    const colon = endOfName(text, at);
    let first = colon + 1;
    let last = end;
    while (isSpace(text.charCodeAt(first))) first += 1;
    while (last > first && isSpace(text.charCodeAt(last - 1))) last -= 1;
    const name = text.substring(at, colon);
    const value = text.substring(first, last);
    framing?.note(name, value);
    fields.push(name, value);
    at = end + LINE_BREAK_LENGTH;
  }
  return fields;
}

/** Returns where the colon is. */
function endOfName(text: string, start: number): number {
  let at = start;
  while (TOKEN[text.charCodeAt(at)] === true) at += 1;
  if (at > start && text.charAt(at) === ':') return at;
  const isFolded = isSpace(text.charCodeAt(start));
  throw new MalformedResponseError(isFolded ? 'folded-field' : 'bad-field-name');
}

function isSpace(code: number): boolean {
  return code === SPACE || code === HTAB;
}
