import type { CharacterClasses } from './character-classes.ts';
import { hasCode, WORD_CHARACTERS } from './character-set.ts';
import type { ExpressionBudget } from './expression-budget.ts';
import type { Node } from './nodes.ts';
import type { Boundary } from './parse-regex.ts';

/** What is on one side of a position in a text: its begin or end, a word character, or another one. */
export type Side = 'edge' | 'word' | 'other';

const SIDES: readonly Side[] = ['edge', 'word', 'other'];

/** Finds what follows a node, and remembers it. */
export class Closures {
  readonly #nodes: readonly Node[];
  readonly #classes: CharacterClasses;
  readonly #budget: ExpressionBudget;
  readonly #hasBoundaries: boolean;
  /** The nodes after one character, by node and side before it, then by class. */
  readonly #following: (readonly (readonly number[])[] | undefined)[] = [];

  constructor(nodes: readonly Node[], classes: CharacterClasses, budget: ExpressionBudget) {
    this.#nodes = nodes;
    this.#classes = classes;
    this.#budget = budget;
    this.#hasBoundaries = nodes.some(({ kind }) => kind === 'boundary');
  }

  /** Returns what is before the position after a character; always `edge` if no boundary asks for it. */
  sideAfter(characterClass: number): Side {
    return this.#hasBoundaries ? this.#sideOf(characterClass) : 'edge';
  }

  /** Returns the nodes that follow a node after one character of a class. */
  following(node: number, before: Side, characterClass: number): readonly number[] {
    const key = node * SIDES.length + SIDES.indexOf(before);
    const byClass = (this.#following[key] ??= this.#followingByClass(node, before));
    return byClass[characterClass] ?? [];
  }

  /** Returns whether a text may end at a node. */
  mayEnd(node: number, before: Side): boolean {
    return this.#reachable(node, before, 'edge').some(({ kind }) => kind === 'end');
  }

  #followingByClass(node: number, before: Side): readonly (readonly number[])[] {
    const bySide = new Map<Side, readonly Node[]>();
    return this.#classes.samples.map((code, characterClass) => {
      const after = this.sideAfter(characterClass);
      const reachable = bySide.get(after) ?? this.#reachable(node, before, after);
      bySide.set(after, reachable);
      this.#budget.spendSteps(reachable.length);
      return reachable.flatMap((each) =>
        each.kind === 'character' && hasCode(each.characters, code) ? [each.next] : [],
      );
    });
  }

  /** Returns the nodes that are reached from a node without a character. */
  #reachable(start: number, before: Side, after: Side): readonly Node[] {
    const reached: Node[] = [];
    const seen = new Set([start]);
    // The set grows while it is read.
    for (const each of seen) {
      const node = this.#nodes[each];
      if (node === undefined) continue;
      if (node.kind === 'choice') for (const next of node.next) seen.add(next);
      else if (node.kind !== 'boundary') reached.push(node);
      else if (isAt(node.boundary, before, after)) seen.add(node.next);
    }
    this.#budget.spendSteps(seen.size);
    return reached;
  }

  #sideOf(characterClass: number): Side {
    return hasCode(WORD_CHARACTERS, this.#classes.samples[characterClass] ?? 0) ? 'word' : 'other';
  }
}

/** Returns whether a boundary is between two sides. */
function isAt(boundary: Boundary, before: Side, after: Side): boolean {
  switch (boundary) {
    case '^':
      return before === 'edge';
    case '$':
      return after === 'edge';
    case '\\b':
      return (before === 'word') !== (after === 'word');
    case '\\B':
      return (before === 'word') === (after === 'word');
  }
}
