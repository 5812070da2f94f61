import { isUtf8 } from 'node:buffer';

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = '\uFEFF';

/** A text, or the place of the first bytes that make it unreadable. */
export type DecodedText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'invalid'; readonly line: number; readonly message: string };

/**
 * Decodes UTF-8. A byte order mark at the beginning is not part of the text.
 *
 * Attack: Node reads other encodings with replacement characters. A deny by the group `Geschäftsführung`
 * in Latin-1 would then match nobody. The message does not show the bytes, because they may be a secret.
 */
export function decodeText(bytes: Buffer): DecodedText {
  const wide = wideEncodingOf(bytes);
  if (wide !== undefined) {
    return { kind: 'invalid', line: 1, message: `is ${wide}; save it as UTF-8` };
  }
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes)) return invalidAt(bytes, firstDifference(bytes, Buffer.from(text)));
  return { kind: 'text', text: text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text };
}

/** Returns the encoding that editors on Windows offer besides UTF-8, by its byte order mark or zeros. */
function wideEncodingOf(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const isBare = bytes.length >= 2 && (first === 0) !== (second === 0);
  return isMarked || isBare ? 'UTF-16' : undefined;
}

function invalidAt(bytes: Buffer, offset: number): DecodedText {
  const before = bytes.subarray(0, offset);
  const line = before.filter((byte) => byte === LINE_FEED).length + 1;
  const column = offset - before.lastIndexOf(LINE_FEED);
  const message = `byte ${String(column)} of the line is not UTF-8; save the file as UTF-8`;
  return { kind: 'invalid', line, message };
}

/** Decoded bytes are first encoded differently where the decoder put a replacement character. */
function firstDifference(one: Buffer, other: Buffer): number {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return index;
}
