/**
 * Parses `key=value` pairs, separated by commas, as variables of the environment have them. `%2C` and the
 * like stand for characters (OTLP exporter specification; W3C Baggage, section 3.3).
 *
 * Undefined if a pair has no key or no `=`, or an escape is broken.
 */
export function parsePairs(text: string): Readonly<Record<string, string>> | undefined {
  const pairs: [key: string, value: string][] = [];
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const pair = splitPair(part);
    const key = pair && decode(pair[0]);
    const value = pair && decode(pair[1]);
    if (key === undefined || value === undefined) return undefined;
    pairs.push([key, value]);
  }
  return Object.fromEntries(pairs);
}

/** Splits `key=value` at its first `=`; undefined if it has no key or no `=`. */
export function splitPair(text: string): readonly [key: string, value: string] | undefined {
  const end = text.indexOf('=');
  const key = text.slice(0, Math.max(end, 0)).trim();
  return key === '' ? undefined : [key, text.slice(end + 1).trim()];
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
