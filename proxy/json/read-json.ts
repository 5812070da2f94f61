import { closingQuote } from './json-text.ts';

const SPACE = /[\t\n\r ]*/y;
const SCALAR = /[^\t\n\r ,\]}]+/y;

/**
 * Reads a text that `JSON.parse` has accepted, piece by piece. Throws `tooDeep()` if it is nested deeper
 * than `depth` levels. The last of several members with one name is kept, as by `JSON.parse`.
 */
export function readJson(text: string, depth: number, tooDeep: () => Error): unknown {
  return new Reader(text, tooDeep).readValue(depth);
}

class Reader {
  readonly #text: string;
  readonly #tooDeep: () => Error;
  #position = 0;

  constructor(text: string, tooDeep: () => Error) {
    this.#text = text;
    this.#tooDeep = tooDeep;
  }

  readValue(levelsLeft: number): unknown {
    const first = this.#peek();
    if (first === '"') return this.#readString();
    if (first !== '{' && first !== '[') return this.#readScalar();
    if (levelsLeft === 0) throw this.#tooDeep();
    return first === '{' ? this.#readObject(levelsLeft - 1) : this.#readList(levelsLeft - 1);
  }

  /** `fromEntries` defines members, where an assignment to `__proto__` would set the prototype. */
  #readObject(levelsLeft: number): object {
    const members: [string, unknown][] = [];
    this.#readItems('}', () => {
      const key = this.#readString();
      this.#skipIf(':');
      members.push([key, this.readValue(levelsLeft)]);
    });
    return Object.fromEntries(members);
  }

  #readList(levelsLeft: number): unknown[] {
    const items: unknown[] = [];
    this.#readItems(']', () => {
      items.push(this.readValue(levelsLeft));
    });
    return items;
  }

  #readItems(end: string, readItem: () => void): void {
    this.#skip();
    while (this.#peek() !== end) {
      readItem();
      this.#skipIf(',');
    }
    this.#skip();
  }

  #readString(): string {
    this.#peek();
    return String(this.#parse(closingQuote(this.#text, this.#position) + 1));
  }

  #readScalar(): unknown {
    SCALAR.lastIndex = this.#position;
    SCALAR.test(this.#text);
    return this.#parse(SCALAR.lastIndex);
  }

  #parse(end: number): unknown {
    const piece = this.#text.slice(this.#position, end);
    this.#position = end;
    return JSON.parse(piece);
  }

  /** Skips spaces, and returns the next character. */
  #peek(): string {
    SPACE.lastIndex = this.#position;
    SPACE.test(this.#text);
    this.#position = SPACE.lastIndex;
    return this.#text.charAt(this.#position);
  }

  #skip(): void {
    this.#position++;
  }

  #skipIf(mark: string): void {
    if (this.#peek() === mark) this.#skip();
  }
}
