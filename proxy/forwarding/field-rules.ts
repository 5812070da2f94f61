import { Buffer } from 'node:buffer';

/** Names of more characters are rare, and their rules are made each time. */
const MAX_LENGTH = 64;

/** Far more names than any traffic has of one length. The bound is for names that strangers make up. */
const MAX_OF_ONE_LENGTH = 16;

/** The rule for a name, in one spelling of it. */
export interface FieldRule<Rule> {
  readonly name: string;
  readonly rule: Rule;
}

/**
 * The rules for header fields by their names: made once for each spelling of a name, and remembered for a
 * bounded number of them.
 *
 * A name that has just been received is a new string, which a map would have to hash. Comparing it with the
 * few names of the same length costs less.
 */
export class FieldRules<Rule> {
  readonly #makeRule: (lower: string) => Rule;
  /** By the length of the names. */
  readonly #known = Array.from({ length: MAX_LENGTH + 1 }, (): FieldRule<Rule>[] => []);
  /** Which name of a length is replaced next. */
  #next = 0;

  /** `makeRule` makes the rule for a name, given in lower case. */
  constructor(makeRule: (lower: string) => Rule) {
    this.#makeRule = makeRule;
  }

  /** Returns the rule for a name in any spelling, with a text of that spelling that maps find faster. */
  ruleFor(name: string): FieldRule<Rule> {
    const sameLength = this.#known[name.length];
    if (sameLength === undefined) return { name, rule: this.#makeRule(name.toLowerCase()) };
    for (const known of sameLength) if (known.name === name) return known;
    return this.#remember(name, sameLength);
  }

  #remember(received: string, sameLength: FieldRule<Rule>[]): FieldRule<Rule> {
    // A copy: a part of a longer text, such as a head with credentials, would keep all of it in memory.
    const name = Buffer.from(received).toString();
    const known = { name, rule: this.#makeRule(name.toLowerCase()) };
    if (sameLength.length < MAX_OF_ONE_LENGTH) {
      sameLength.push(known);
    } else {
      // Made-up names must not keep the common ones out for good.
      sameLength[this.#next] = known;
      this.#next = (this.#next + 1) % MAX_OF_ONE_LENGTH;
    }
    return known;
  }
}
