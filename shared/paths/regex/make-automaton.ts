import { Automaton } from './automaton.ts';
import { characterClasses, type CharacterClasses } from './character-classes.ts';
import { WORD_CHARACTERS } from './character-set.ts';
import { Closures, type Side } from './closures.ts';
import type { ExpressionBudget } from './expression-budget.ts';
import type { Node, Nodes } from './nodes.ts';

/**
 * Makes the deterministic automaton of an expression, with all of its states.
 *
 * Attack: states that are made while paths are matched cost time and memory that strangers choose. Throws
 * `ExpressionTooLargeError` if there are too many.
 */
export function makeAutomaton({ nodes, start }: Nodes, budget: ExpressionBudget): Automaton {
  const classes = characterClasses(nodes.flatMap(setsOf));
  return new StateMaker(classes, new Closures(nodes, classes, budget), budget).make(start);
}

function setsOf(node: Node): readonly bigint[] {
  if (node.kind === 'character') return [node.characters];
  return node.kind === 'boundary' ? [WORD_CHARACTERS] : [];
}

/** Nodes that were reached after the same text. */
interface State {
  readonly nodes: readonly number[];
  /** What is before the position. */
  readonly before: Side;
}

class StateMaker {
  readonly #classes: CharacterClasses;
  readonly #closures: Closures;
  readonly #budget: ExpressionBudget;
  readonly #states: State[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(classes: CharacterClasses, closures: Closures, budget: ExpressionBudget) {
    this.#classes = classes;
    this.#closures = closures;
    this.#budget = budget;
  }

  make(startNode: number): Automaton {
    // `Automaton` takes the first state for the one from which nothing is accepted.
    this.#numberOf({ nodes: [], before: 'edge' });
    const start = this.#numberOf({ nodes: [startNode], before: 'edge' });
    const transitions: number[] = [];
    const accepts: boolean[] = [];
    // The list grows while it is read.
    for (const { nodes, before } of this.#states) {
      accepts.push(nodes.some((node) => this.#closures.mayEnd(node, before)));
      for (let each = 0; each < this.#classes.count; each += 1) {
        transitions.push(this.#numberOf(this.#after({ nodes, before }, each)));
      }
    }
    return new Automaton(this.#classes, { transitions, accepts, start });
  }

  #numberOf(state: State): number {
    const key = state.nodes.length === 0 ? '' : `${state.before} ${state.nodes.join()}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#budget.spendTransitions(this.#classes.count);
    const number = this.#states.push(state) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  #after({ nodes, before }: State, characterClass: number): State {
    const reached = new Set<number>();
    for (const node of nodes) {
      for (const next of this.#closures.following(node, before, characterClass)) reached.add(next);
    }
    this.#budget.spendSteps(nodes.length + reached.size);
    return {
      nodes: [...reached].sort((a, b) => a - b),
      before: this.#closures.sideAfter(characterClass),
    };
  }
}
