/** More than any expression of 1,024 characters has that repeats nothing a number of times. */
const MAX_NODES = 2_048;

/**
 * Visits of nodes while the states are made: some milliseconds. Attack: the author of a Route changes its
 * expression again and again, and the controller and every proxy prepare each of them.
 */
const MAX_STEPS = 100_000;

/** Entries of the table of transitions, of two bytes each. */
const MAX_TRANSITIONS = 32_768;

/** The expression needs more than an expression may cost to prepare or to keep. */
export class ExpressionTooLargeError extends Error {
  override readonly name = 'ExpressionTooLargeError';
}

/** Counts what the automaton of one expression costs, and throws when it is too much. */
export class ExpressionBudget {
  #nodes = 0;
  #steps = 0;
  #transitions = 0;

  spendNode(): void {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) throw new ExpressionTooLargeError('too many nodes');
  }

  spendSteps(count: number): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw new ExpressionTooLargeError('too many steps');
  }

  spendTransitions(count: number): void {
    this.#transitions += count;
    if (this.#transitions > MAX_TRANSITIONS) throw new ExpressionTooLargeError('too many states');
  }
}
