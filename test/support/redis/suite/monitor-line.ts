const BYTE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\x07',
  b: '\b',
};

/**
 * Parses the arguments of a command that MONITOR shows: in quotes, with escapes for all bytes that
 * are not printable ASCII. Returns null for a line that is not a command.
 */
export function argumentsOf(line: string): readonly string[] | null {
  const [, words] = /^\+[\d.]+ \[[^\]]*\] (.*?)\r?$/.exec(line) ?? [];
  if (words === undefined) return null;
  return [...words.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => textOf(quoted));
}

function textOf(quoted: string): string {
  const escapes = /\\(?:x([0-9a-f]{2})|(.))/g;
  const bytes = quoted.replaceAll(escapes, (_escape, hex: string | undefined, letter: string) =>
    hex === undefined
      ? (BYTE_ESCAPES[letter] ?? letter)
      : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}
