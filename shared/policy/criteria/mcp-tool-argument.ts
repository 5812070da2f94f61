import { isRecord } from '../../runtime/is-record.ts';
import type { Report } from '../language/criterion-definition.ts';
import { matcherAtPathCriterion, type MatchedValue } from '../operands/matcher-criterion.ts';

/**
 * An argument of a tool call, by its JSON pointer (RFC 6901) behind the name. False for every message but
 * `tools/call`; an argument that is absent or has the wrong type cannot be decided.
 */
export const mcpToolArgument = matcherAtPathCriterion(
  {
    name: 'mcp_tool_argument',
    readPath,
    writePath,
    example: 'mcp_tool_argument/database',
    reasons: { whenTrue: 'mcp-tool-argument-ok', whenFalse: 'mcp-tool-argument-unauthorized' },
    ofToolCall: true,
    reads: ['message', 'tool', 'tool-arguments'],
    onlyOn: 'mcp',
    row: {
      looksAt: 'an [argument](#arguments-of-tools) of a `tools/call`',
      compares: 'a text, exactly',
    },
  },
  {
    readerAt: (path) => (input) =>
      input.toolArguments === undefined ? null : valueAt(input.toolArguments, path),
  },
);

const MISPLACED = 'must name an argument by its JSON pointer, such as mcp_tool_argument/database';

/** Attack: a thousand criteria would each go down the 128 levels that a message may have. */
const MAX_LEVELS = 16;

function readPath(pointer: string, report: Report): readonly string[] | null {
  const names = pointer.slice(1).split('/');
  // RFC 6901, section 3: "~" is written as "~0", and "/" as "~1".
  if (names.includes('') || /~(?![01])/.test(pointer)) return report(MISPLACED);
  if (names.length > MAX_LEVELS)
    return report(`must not have more than ${String(MAX_LEVELS)} names`);
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** RFC 6901, section 3. */
function writePath(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function valueAt(root: Readonly<Record<string, unknown>>, path: readonly string[]): MatchedValue {
  let value: unknown = root;
  for (const name of path) {
    value = Array.isArray(value) ? itemOf(value, name) : memberOf(value, name);
    if (value === undefined) return undefined;
  }
  return textOf(value);
}

/** RFC 6901, section 4: digits without leading zeros. */
function itemOf(list: readonly unknown[], index: string): unknown {
  return /^(?:0|[1-9]\d{0,8})$/.test(index) ? list[Number(index)] : undefined;
}

/**
 * Attack: a server whose parser ignores case, as Go's does, takes `Database` for `database`. With both in an
 * object, or only the other one, nobody knows which value the tool gets.
 */
function memberOf(value: unknown, name: string): unknown {
  if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
  const ambiguous = ambiguousNames(value);
  return ambiguous !== NONE && ambiguous.has(foldCase(name)) ? undefined : value[name];
}

const NONE: ReadonlySet<string> = new Set();
const KNOWN_NAMES = new WeakMap<object, ReadonlySet<string>>();

/**
 * Returns the names that several members of an object have but for case, folded.
 *
 * Attack: a thousand criteria would each read a hundred thousand names, so they are read once.
 */
function ambiguousNames(object: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const known = KNOWN_NAMES.get(object);
  if (known !== undefined) return known;
  const names = Object.keys(object).map(foldCase);
  const isUnique = new Set(names).size === names.length;
  const repeated = isUnique ? NONE : new Set(names.filter(isRepeated()));
  KNOWN_NAMES.set(object, repeated);
  return repeated;
}

/** Returns a function that is true for each text from its second time on. */
function isRepeated(): (text: string) => boolean {
  const seen = new Set<string>();
  return (text) => seen.size === seen.add(text).size;
}

/** Folds both ways: some letters, such as the long s, change in one direction only. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

/** Longer than any value that a policy names: each criterion of a thousand may read it. */
const MAX_LENGTH = 8_192;

/**
 * Numbers count only while every parser reads the same one: integers that a double holds exactly. A text
 * must be Unicode without U+0000, where C ends it.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== 'string' || value.length > MAX_LENGTH) return undefined;
  return value.isWellFormed() && !value.includes('\0') ? value : undefined;
}
