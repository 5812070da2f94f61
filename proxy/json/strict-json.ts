import type { JsonObject } from './json-object.ts';
import { countKeys } from './json-text.ts';
import { readJson } from './read-json.ts';

const MAX_DEPTH = 128;

/** The only way to write U+0000 in JSON; after another backslash it has a different meaning. */
const ESCAPED_NUL = '\\u0000';

/** A text is not JSON that all parsers read alike. Its message follows a subject: "has a duplicate key". */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError';
  /** False if no parser reads the text. */
  readonly isJson: boolean;

  constructor(message: string, { isJson }: { readonly isJson: boolean }) {
    super(message);
    this.isJson = isJson;
  }
}

/**
 * Parses JSON (RFC 8259: no byte order mark, nothing after the value) that all parsers read alike. An
 * object, at any depth, must not have a duplicate key or a key with U+0000, and the nesting must not be
 * deeper than 128 levels. Throws `StrictJsonError`.
 *
 * `JSON.parse` keeps only the last of several members with one name, so a value with a duplicate has
 * fewer members than the text has keys. A text has at least as many colons as keys: if it has no more colons
 * than members, no key is a duplicate. Most texts need no closer look.
 */
export function parseStrictJson(text: string): unknown {
  const parsed = parse(text);
  const members = countMembers(parsed, MAX_DEPTH);
  if (!text.includes('\\') && !hasMoreColons(text, members)) return parsed;
  return lookClosely(text, parsed, members);
}

function lookClosely(text: string, parsed: unknown, membersOfParsed: number): unknown {
  const { members, hasEscapes } = countKeys(text);
  // V8 may confuse a key that is written with escapes with the key that an earlier text had in the
  // same position: after {"a":1,"\\u00":1} it reads {"a":1,"\u006e\u0061\u006d\u0065":1} as having
  // a key \u00 and no "name" (nodejs/node#63785). Attack: sending both hides a tool from policy.
  const value = hasEscapes ? readJson(text, MAX_DEPTH, tooDeep) : parsed;
  const membersOfValue = hasEscapes ? countMembers(value, MAX_DEPTH) : membersOfParsed;
  if (membersOfValue !== members) throw unsafe('has a duplicate key');
  // Attack: C ends a text at U+0000, and reads two names in {"name":"list","name\u0000":"drop_table"}.
  if (text.includes(ESCAPED_NUL) && hasNulKey(value)) throw unsafe('has a key with U+0000');
  return value;
}

/** Returns whether a text has more colons than this. Stops at the first one more: a string may be full of them. */
function hasMoreColons(text: string, count: number): boolean {
  let colons = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) {
    colons += 1;
    if (colons > count) return true;
  }
  return false;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the cause: its message quotes the text, which may hold secrets.
    throw new StrictJsonError('is not JSON', { isJson: false });
  }
}

function countMembers(value: unknown, levelsLeft: number): number {
  if (!isNested(value)) return 0;
  if (levelsLeft === 0) throw tooDeep();
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (isNested(item)) count += countMembers(item, levelsLeft - 1);
    return count;
  }
  // What was parsed inherits nothing enumerable, and a list of its values would cost more than the rest.
  for (const key in value) {
    count += 1;
    const member = value[key];
    if (isNested(member)) count += countMembers(member, levelsLeft - 1);
  }
  return count;
}

function isNested(value: unknown): value is unknown[] | JsonObject {
  return typeof value === 'object' && value !== null;
}

/** Returns whether a key has U+0000. The nesting of the value must have been checked. */
function hasNulKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries<unknown>({ ...value }).some(
    ([key, member]) => key.includes('\0') || hasNulKey(member),
  );
}

function tooDeep(): StrictJsonError {
  return unsafe('is nested too deeply');
}

function unsafe(message: string): StrictJsonError {
  return new StrictJsonError(message, { isJson: true });
}
