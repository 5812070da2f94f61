import type { CharacterSet } from './character-set.ts';
import { parseRegex, type Content, type Element, type Sequence } from './parse-regex.ts';

/** The most characters that may be matched again for each way to divide a path among two parts. */
const MAX_TRIED = 32;

/**
 * The problem with the regular expression of a route; undefined if it is safe to match.
 *
 * Attack: V8 backtracks, so one expression such as `(a+)+` and one long path stall a whole proxy.
 * Accepted expressions take at most quadratic time in the length of the path: repeated groups are
 * fixed text, at most two parts of variable length can compete for the same text, and few characters
 * are matched again for each way to divide it among them.
 */
export function checkRegex(source: string): string | undefined {
  const syntaxProblem = syntaxProblemOf(source);
  if (syntaxProblem !== undefined) return `is not a valid regular expression: ${syntaxProblem}`;
  const branches = parseRegex(source);
  if (elementsIn(branches).some(({ content }) => content.kind === 'unsupported')) {
    return 'must not use look-around, back references or inline modifiers';
  }
  if (elementsIn(branches).some(isNestedRepetition)) {
    return 'must not repeat a group that contains a repetition or alternatives, such as (a+)+';
  }
  const { count, tried } = competition(branches, { count: 0, tried: 0, open: [] });
  if (count > 1) {
    return 'has too many parts that can match the same text, such as .*a.*b.*; use [^/]* in place of .*';
  }
  return tried > MAX_TRIED
    ? 'has too much to match after parts that can match the same text, such as .*.*a{700}'
    : undefined;
}

function syntaxProblemOf(source: string): string | undefined {
  try {
    return new RegExp(source, 'u').unicode ? undefined : 'not read as Unicode';
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.slice(message.lastIndexOf(': ') + 2);
  }
}

function elementsIn(branches: readonly Sequence[]): readonly Element[] {
  return branches
    .flat()
    .flatMap((element) =>
      element.content.kind === 'group'
        ? [element, ...elementsIn(element.content.branches)]
        : [element],
    );
}

function isNestedRepetition(element: Element): boolean {
  if (element.content.kind !== 'group' || element.max <= 1) return false;
  const inner = elementsIn(element.content.branches);
  return (
    inner.some(({ min, max }) => min !== 1 || max !== 1) ||
    [element, ...inner].some(
      ({ content }) => content.kind === 'group' && content.branches.length > 1,
    )
  );
}

interface Competition {
  /** The number of parts that can match the same text as an earlier part. */
  readonly count: number;
  /** Characters that are matched again for each way to divide the text among these parts. */
  readonly tried: number;
  /** Characters of earlier parts that could match more or less text up to this point. */
  readonly open: readonly CharacterSet[];
}

function competition(branches: readonly Sequence[], before: Competition): Competition {
  const each = branches.map((branch) => branch.reduce(afterElement, before));
  return {
    count: Math.max(...each.map(({ count }) => count)),
    tried: each.reduce((sum, { tried }) => sum + tried - before.tried, before.tried),
    open: [...new Set(each.flatMap((branch) => branch.open))],
  };
}

function afterElement(before: Competition, element: Element): Competition {
  const { content, min, max } = element;
  if (content.kind === 'group' && max === 1) {
    return afterGroup(before, min === 1 ? content.branches : [...content.branches, []]);
  }
  const characters = charactersOf(content);
  if (content.kind !== 'set' && characters === 0n) return before;
  // A part ends before a required character that it cannot match.
  const open = before.open.filter((other) => min === 0 || (other & characters) !== 0n);
  const isCompeting = competes(characters, before.open);
  if (min === max) {
    const length = isCompeting && before.count > 0 ? min * lengthOf(content) : 0;
    return { ...before, tried: before.tried + length, open };
  }
  const own = isCompeting ? 1 : 0;
  return { count: before.count + own, tried: before.tried + own, open: [...open, characters] };
}

/** A group that occurs at most once; each alternative continues with the parts that are open before. */
function afterGroup(before: Competition, branches: readonly Sequence[]): Competition {
  const inner = competition(branches, before);
  if (branches.length === 1) return inner;
  const characters = charactersOf({ kind: 'group', branches });
  const own = competes(characters, before.open) ? 1 : 0;
  return {
    count: Math.max(inner.count, before.count + own),
    tried: inner.tried + own,
    open: [...inner.open, characters],
  };
}

function competes(characters: CharacterSet, open: readonly CharacterSet[]): boolean {
  return open.some((other) => (other & characters) !== 0n);
}

/** The length of a repeated part, which is one character or fixed text. */
function lengthOf(content: Content): number {
  return content.kind === 'group' ? elementsIn(content.branches).length : 1;
}

function charactersOf(content: Content): CharacterSet {
  switch (content.kind) {
    case 'set':
      return content.characters;
    case 'group':
      return elementsIn(content.branches)
        .filter((element) => element.content.kind !== 'group')
        .reduce((union, element) => union | charactersOf(element.content), 0n);
    case 'boundary':
    case 'unsupported':
      return 0n;
  }
}
