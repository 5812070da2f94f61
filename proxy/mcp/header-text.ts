import { isUtf8 } from 'node:buffer';

const PREFIX = '=?base64?';
const SUFFIX = '?=';
const PRINTABLE_ASCII = /^[\t\x20-\x7e]*$/;

/**
 * Decodes the text of a mirroring header: printable ASCII as it is, any other text as base64 of UTF-8
 * between `=?base64?` and `?=` (MCP 2026-07-28, Value Encoding).
 *
 * Undefined for base64 with more than one reading, and for bytes beyond ASCII.
 */
export function decodeHeaderText(value: string): string | undefined {
  if (!PRINTABLE_ASCII.test(value)) return undefined;
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX)) return value;
  if (value.length < PREFIX.length + SUFFIX.length) return undefined;
  const encoded = value.slice(PREFIX.length, -SUFFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  const isCanonical = bytes.toString('base64') === encoded && isUtf8(bytes);
  return isCanonical ? bytes.toString('utf8') : undefined;
}
