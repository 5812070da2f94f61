import { Buffer } from 'node:buffer';

/** Names and values in their order. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** Returns a field block: literal fields that are in no table (RFC 7541, section 6.2.2), as ISO 8859-1. */
export function fieldBlock(fields: Fields): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]),
  );
}

const LARGEST_PREFIX = 0x7f;

/** A text without Huffman coding (RFC 7541, sections 5.1 and 5.2). */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < LARGEST_PREFIX) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [LARGEST_PREFIX];
  let rest = bytes.length - LARGEST_PREFIX;
  for (; rest >= 0x80; rest >>= 7) length.push((rest & 0x7f) | 0x80);
  length.push(rest);
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** The statuses of the static table, from index 8 (RFC 7541, appendix A). */
const STATUSES = [200, 204, 206, 304, 400, 404, 500];
const FIRST_STATUS = 8;

/** The Huffman codes of digits (RFC 7541, appendix B). */
const DIGITS: Readonly<Record<string, string>> = {
  '00000': '0',
  '00001': '1',
  '00010': '2',
  '011001': '3',
  '011010': '4',
  '011011': '5',
  '011100': '6',
  '011101': '7',
  '011110': '8',
  '011111': '9',
};

/** Returns the status of a response, which is the first field of its block. */
export function statusOf(block: Buffer): number {
  // Changes of the table size may come first.
  let at = 0;
  while (((block[at] ?? 0) & 0xe0) === 0x20) at += 1;
  const first = block[at] ?? 0;
  if ((first & 0x80) !== 0) return STATUSES[(first & 0x7f) - FIRST_STATUS] ?? NaN;
  const length = block[at + 1] ?? 0;
  const text = block.subarray(at + 2, at + 2 + (length & 0x7f));
  if ((length & 0x80) === 0) return Number(text.toString('latin1'));
  return Number(digitsOf([...text].map((byte) => byte.toString(2).padStart(8, '0')).join('')));
}

function digitsOf(bits: string): string {
  let digits = '';
  let code = '';
  for (const bit of bits) {
    code += bit;
    const digit = DIGITS[code];
    if (digit === undefined) continue;
    digits += digit;
    if (digits.length === 3) break;
    code = '';
  }
  return digits;
}
