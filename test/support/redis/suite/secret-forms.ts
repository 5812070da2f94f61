/** Base64 encodes three bytes at a time, so a text inside a longer one has three spellings. */
const ALIGNMENTS = [0, 1, 2];
const BITS_PER_CHARACTER = 6;

/** Every readable spelling of a secret: unchanged, escaped, in hex, in base64. */
export function formsOf(secret: string): ReadonlySet<string> {
  const percentEncoded = encodeURIComponent(secret);
  const hex = Buffer.from(secret).toString('hex');
  return new Set([
    ...[secret, inJson(secret), inJson(inJson(secret)), secret.replaceAll('/', '\\/')],
    ...[
      percentEncoded,
      lowerCaseEscapes(percentEncoded),
      new URLSearchParams({ '': secret }).toString().slice(1),
    ],
    ...[hex, hex.toUpperCase(), escapedThroughout(hex), escapedThroughout(hex.toUpperCase())],
    ...ALIGNMENTS.flatMap((offset) => [
      insideBase64(secret, offset, 'base64'),
      insideBase64(secret, offset, 'base64url'),
    ]),
  ]);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function lowerCaseEscapes(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
}

function escapedThroughout(hex: string): string {
  return hex.replaceAll(/../g, '%$&');
}

/** The characters that depend on the secret alone, and not on the text around it. */
function insideBase64(secret: string, offset: number, encoding: 'base64' | 'base64url'): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
  const first = Math.ceil((offset * 8) / BITS_PER_CHARACTER);
  const end = Math.floor((bytes.length * 8) / BITS_PER_CHARACTER);
  return bytes.toString(encoding).slice(first, end);
}
