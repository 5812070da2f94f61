import { ALPHABET_SIZE } from './character-set.ts';
import type { CharacterClasses } from './character-classes.ts';

/** The state from which nothing is accepted; the first one that is made. */
const DEAD = 0;

/** A deterministic automaton: matching takes one look-up for each character, whatever the text. */
export class Automaton {
  readonly #classes: CharacterClasses;
  /** The next state, by state and class. */
  readonly #transitions: Uint16Array;
  readonly #accepts: readonly boolean[];
  readonly #start: number;

  constructor(
    classes: CharacterClasses,
    {
      transitions,
      accepts,
      start,
    }: {
      readonly transitions: readonly number[];
      readonly accepts: readonly boolean[];
      readonly start: number;
    },
  ) {
    this.#classes = classes;
    this.#transitions = Uint16Array.from(transitions);
    this.#accepts = accepts;
    this.#start = start;
  }

  /** Returns whether the whole text is accepted. */
  matches(text: string): boolean {
    const { ofCode, count } = this.#classes;
    const transitions = this.#transitions;
    let state = this.#start;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code >= ALPHABET_SIZE) return false;
      state = transitions[state * count + (ofCode[code] ?? 0)] ?? DEAD;
      if (state === DEAD) return false;
    }
    return this.#accepts[state] === true;
  }
}
