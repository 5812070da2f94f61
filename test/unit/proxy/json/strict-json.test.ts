import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { parseStrictJson, StrictJsonError } from '../../../../proxy/json/strict-json.ts';

/** JSON as it is written: objects are lists of members, which may repeat a key. */
type Written = string | number | null | { list: Written[] } | { members: [string, Written][] };

const key = fc.constantFrom('a', 'b', ':', '"', '\\', '\\"', '{":', '__proto__', '\u00e9', '1', '');
/** Nothing in texts of these keys and of numbers needs a closer look. */
const plainKey = fc.constantFrom('a', 'b', '__proto__', '1', '');
const { written } = fc.letrec<{ written: Written }>((tie) => ({
  written: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(key, fc.integer(), fc.constant(null)),
    fc.record({ list: fc.array(tie('written'), { maxLength: 3 }) }),
    fc.record({ members: fc.array(fc.tuple(key, tie('written')), { maxLength: 3 }) }),
  ),
}));

describe('parseStrictJson', () => {
  test('reads JSON without duplicate keys, whatever was read before', () => {
    fc.assert(
      fc.property(written, fc.boolean(), (value, escapes) => {
        fc.pre(!repeatsKey(value));

        expect(parseStrictJson(write(value, escapes))).toStrictEqual(read(value));
      }),
      { numRuns: 500 },
    );
  });

  test('refuses JSON in which an object repeats a key', () => {
    fc.assert(
      fc.property(written, fc.boolean(), (value, escapes) => {
        fc.pre(repeatsKey(value));

        expect(() => parseStrictJson(write(value, escapes))).toThrow('duplicate key');
      }),
      { numRuns: 200 },
    );
  });

  test('refuses what a reader refuses that keeps every key, and nothing else', () => {
    const part = fc.oneof(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '"a"', '"b"', '{"a":', '0', ' '),
      plainKey.map((name) => `"${name}":`),
      written.map((value) => write(value, false)),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        expect(outcomeOf(text)).toBe(expectedOf(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ['at the top', '{"a":1,"a":1}'],
    ['deep inside', '{"a":[{"b":{"c":1,"c":2}}]}'],
    ['once escaped', '{"a":1,"\\u0061":2}'],
    ['called __proto__', '{"__proto__":1,"__proto__":2}'],
    ['beside a string full of colons', '{"a":":::","a":1}'],
    ['beside a string that ends in a backslash', '{"a":"\\\\","a":1}'],
  ])('refuses a duplicate key %s', (_, text) => {
    expect(() => parseStrictJson(text)).toThrow('duplicate key');
  });

  test('reads an escaped key correctly after a text that misleads V8', () => {
    JSON.parse('{"misleading":1,"name":"safe","\\\\u00":1}');
    const escaped = '"\\u006e\\u0061\\u006d\\u0065"';

    expect(() => parseStrictJson(`{"misleading":1,"name":"safe",${escaped}:"drop"}`)).toThrow(
      'duplicate key',
    );
    expect(parseStrictJson(`{"misleading":1,"x":"safe",${escaped}:"drop"}`)).toEqual({
      misleading: 1,
      x: 'safe',
      name: 'drop',
    });
  });

  test.each([
    ['plain', 'a'],
    ['escaped', '\\u0061'],
  ])('accepts 128 levels and refuses 129, with a key that is %s', (_, name) => {
    const nested = (levels: number): string =>
      `{"${name}":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

    expect(parseStrictJson(nested(128))).toHaveProperty('a');
    expect(() => parseStrictJson(nested(129))).toThrow('too deeply');
  });

  test.each([
    ['plain', 'a'],
    ['escaped', '\\u0061'],
  ])('does not recurse beyond 128 levels, with keys that are %s', (_, name) => {
    const levels = 100_000;
    const text = `${`{"${name}":`.repeat(levels)}1${'}'.repeat(levels)}`;

    expect(() => parseStrictJson(text)).toThrow('too deeply');
  });

  test('finds deep nesting that a duplicate key would hide', () => {
    const text = `{"\\u0061":${'['.repeat(100_000)}${']'.repeat(100_000)},"a":1}`;

    expect(() => parseStrictJson(text)).toThrow('too deeply');
  });
});

function outcomeOf(text: string): string {
  try {
    parseStrictJson(text);
    return 'is read';
  } catch (error) {
    return error instanceof StrictJsonError ? error.message : 'a bug';
  }
}

function expectedOf(text: string): string {
  try {
    JSON.parse(text);
    return repeatsKeyIn(text) ? 'has a duplicate key' : 'is read';
  } catch {
    return 'is not JSON';
  }
}

/** Returns whether an object in a text, which is known to be JSON, repeats a key. */
function repeatsKeyIn(text: string): boolean {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g) ?? [];
  const open: Set<unknown>[] = [];
  return tokens.some((token, index) => {
    if (token === '{' || token === '[') open.push(new Set());
    if (token === '}' || token === ']') open.pop();
    if (tokens[index + 1] !== ':') return false;
    const keys = open.at(-1);
    const name: unknown = JSON.parse(token);
    if (keys?.has(name) === true) return true;
    keys?.add(name);
    return false;
  });
}

/** What the value is, built without a parser. */
function read(value: Written): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('list' in value) return value.list.map(read);
  return Object.fromEntries(value.members.map(([name, item]) => [name, read(item)]));
}

function write(value: Written, escapes: boolean): string {
  if (typeof value === 'string') return writeText(value, escapes);
  if (value === null || typeof value === 'number') return String(value);
  if ('list' in value) return `[${value.list.map((item) => write(item, escapes)).join(' , ')}]`;
  const members = value.members.map(
    ([name, item]) => `${writeText(name, escapes)} : ${write(item, escapes)}`,
  );
  return `{${members.join(',')}}`;
}

function writeText(text: string, escapes: boolean): string {
  if (!escapes) return JSON.stringify(text);
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

function repeatsKey(value: Written): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('list' in value) return value.list.some(repeatsKey);
  const names = value.members.map(([name]) => name);
  return (
    new Set(names).size < names.length || value.members.some(([, member]) => repeatsKey(member))
  );
}
