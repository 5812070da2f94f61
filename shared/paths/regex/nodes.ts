import type { CharacterSet } from './character-set.ts';
import type { ExpressionBudget } from './expression-budget.ts';
import type { Boundary, Content, Element, Sequence } from './parse-regex.ts';

/** A node of a nondeterministic automaton. `next` are indexes of nodes. */
export type Node =
  | { readonly kind: 'character'; readonly characters: CharacterSet; readonly next: number }
  | { readonly kind: 'boundary'; readonly boundary: Boundary; readonly next: number }
  | { readonly kind: 'choice'; readonly next: readonly number[] }
  | { readonly kind: 'end' };

/** A nondeterministic automaton that accepts what an expression matches as a whole. */
export interface Nodes {
  readonly nodes: readonly Node[];
  readonly start: number;
}

/** Makes the automaton of an expression. Throws `ExpressionTooLargeError` if it has too many nodes. */
export function makeNodes(branches: readonly Sequence[], budget: ExpressionBudget): Nodes {
  const maker = new NodeMaker(budget);
  const end = maker.add({ kind: 'end' });
  const start = maker.addBranches(branches, end);
  return { nodes: maker.nodes, start };
}

/** Adds the nodes of an expression from its end to its beginning, so that each knows what follows it. */
class NodeMaker {
  readonly nodes: Node[] = [];
  readonly #budget: ExpressionBudget;

  constructor(budget: ExpressionBudget) {
    this.#budget = budget;
  }

  add(node: Node): number {
    return this.nodes.push(node) - 1;
  }

  addBranches(branches: readonly Sequence[], next: number): number {
    const starts = branches.map((branch) => this.#addSequence(branch, next));
    const [only = next] = starts;
    return starts.length === 1 ? only : this.add({ kind: 'choice', next: starts });
  }

  #addSequence(sequence: Sequence, next: number): number {
    return sequence.reduceRight((after, element) => this.#addElement(element, after), next);
  }

  #addElement({ content, min, max }: Element, next: number): number {
    let start = max === Infinity ? this.#addLoop(content, next) : next;
    if (max !== Infinity) {
      for (let copy = min; copy < max; copy += 1) {
        start = this.add({ kind: 'choice', next: [this.#addContent(content, start), next] });
      }
    }
    for (let copy = 0; copy < min; copy += 1) start = this.#addContent(content, start);
    return start;
  }

  #addLoop(content: Content, next: number): number {
    const choices = [next];
    const loop = this.add({ kind: 'choice', next: choices });
    choices.push(this.#addContent(content, loop));
    return loop;
  }

  #addContent(content: Content, next: number): number {
    // Also for groups without content: `(?:){1000000}` takes as many turns.
    this.#budget.spendNode();
    switch (content.kind) {
      case 'set':
        return this.add({ kind: 'character', characters: content.characters, next });
      case 'boundary':
        return this.add({ kind: 'boundary', boundary: content.boundary, next });
      case 'group':
        return this.addBranches(content.branches, next);
      case 'unsupported':
        throw new Error('an unsupported element has no automaton');
    }
  }
}
