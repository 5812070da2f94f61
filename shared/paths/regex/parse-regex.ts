import { characterSet, type CharacterSet, type Reading } from './character-set.ts';

/** An element of a regular expression: an atom, and how often it may occur. */
export interface Element {
  readonly content: Content;
  readonly min: number;
  /** `Infinity` if unbounded. */
  readonly max: number;
}

/** The text that one occurrence of an element matches. */
export type Content =
  /** One character of a set. */
  | { readonly kind: 'set'; readonly characters: CharacterSet }
  | { readonly kind: 'group'; readonly branches: readonly Sequence[] }
  | { readonly kind: 'boundary'; readonly boundary: Boundary }
  /** Look-around, back references, inline modifiers. */
  | { readonly kind: 'unsupported' };

/** Matches between two characters. */
export type Boundary = '^' | '$' | '\\b' | '\\B';

/** A sequence of elements. */
export type Sequence = readonly Element[];

const TOKEN = new RegExp(
  [
    String.raw`\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<[^>]*>|[1-9]\d*|.)`,
    String.raw`\[(?:\\.|[^\]\\])*\]`,
    String.raw`\((?:\?(?::|<?[=!]|<[^>]*>|[a-z-]*:))?`,
    String.raw`[*+?]\??|\{\d+(?:,\d*)?\}\??`,
    String.raw`.`,
  ].join('|'),
  'gsu',
);

/**
 * Parses a regular expression into its alternatives, as a reading compares them.
 *
 * `new RegExp(source, 'u')` must accept it, which keeps the parser simple: brackets balance, and braces are
 * quantifiers.
 */
export function parseRegex(source: string, reading: Reading): readonly Sequence[] {
  return readBranches((source.match(TOKEN) ?? []).values(), reading);
}

/** Parses alternatives up to the end of the current group. */
function readBranches(tokens: Iterator<string, undefined>, reading: Reading): readonly Sequence[] {
  const branches: Element[][] = [];
  let branch: Element[] = [];
  for (let token = tokens.next().value; token !== undefined; token = tokens.next().value) {
    if (token === ')') break;
    const quantifier = quantifierOf(token);
    if (token === '|') {
      branches.push(branch);
      branch = [];
    } else if (quantifier !== undefined) {
      // A quantifier follows an element, since the expression is valid.
      branch = branch.with(-1, { ...branch.at(-1), ...quantifier } as Element);
    } else {
      branch.push({ content: readContent(token, tokens, reading), min: 1, max: 1 });
    }
  }
  return [...branches, branch];
}

function readContent(
  token: string,
  tokens: Iterator<string, undefined>,
  reading: Reading,
): Content {
  if (token.startsWith('(')) {
    const branches = readBranches(tokens, reading);
    const isGroup = token === '(' || token === '(?:' || /^\(\?<[^=!]/.test(token);
    return isGroup ? { kind: 'group', branches } : { kind: 'unsupported' };
  }
  if (/^\\(?:[1-9]|k)/.test(token)) return { kind: 'unsupported' };
  const boundary = BOUNDARIES.find((each) => each === token);
  if (boundary !== undefined) return { kind: 'boundary', boundary };
  return { kind: 'set', characters: characterSet(token, reading) };
}

const BOUNDARIES: readonly Boundary[] = ['^', '$', '\\b', '\\B'];

interface Quantifier {
  readonly min: number;
  readonly max: number;
}

const QUANTIFIERS: Readonly<Record<string, Quantifier>> = {
  '*': { min: 0, max: Infinity },
  '+': { min: 1, max: Infinity },
  '?': { min: 0, max: 1 },
};

/** Lazy quantifiers match the same texts, in a different order. */
function quantifierOf(token: string): Quantifier | undefined {
  if (/^[*+?]/.test(token)) return QUANTIFIERS[token.charAt(0)];
  const bounds = /^\{(\d+)(,?)(\d*)\}/.exec(token);
  if (bounds === null) return undefined;
  const [, min = '', comma, max = ''] = bounds;
  if (comma === '') return { min: Number(min), max: Number(min) };
  return { min: Number(min), max: max === '' ? Infinity : Number(max) };
}
