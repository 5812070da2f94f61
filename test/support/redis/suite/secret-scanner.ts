import { formsOf } from './secret-forms.ts';
import { SHORTEST_SECRET, type Secret } from './secret.ts';

/** A secret that can be read. */
export interface Finding {
  /** Kind of the secret, or the name of the pattern. */
  readonly kind: string;
  /** The text around it. */
  readonly excerpt: string;
}

const CONTEXT = 60;

type Patterns = Readonly<Record<string, RegExp>>;

/** Patterns of secrets, wherever they came from. */
const PATTERNS: Patterns = {
  'an external token': /(?<![\w-])gte_[\w-]{8,}/g,
  'a refresh token': /(?<![\w-])gtr_[\w-]{8,}/g,
  'a JWT': /eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g,
  'an e-mail address': /[\w.+-]+(?:@|%40|\\u0040)[\w-]+\.[a-z]{2,}/gi,
  'a PEM block': /-----BEGIN/g,
};

/** Finds secrets in texts, in every readable form. */
export class SecretScanner {
  /**
   * Forms by their beginnings. A text is scanned once, whatever the number of secrets: there are
   * thousands of them, and megabytes of text.
   */
  readonly #forms = new Map<string, { readonly kind: string; readonly form: string }[]>();
  readonly #patterns: Patterns;
  /** Number of secrets that are searched for. */
  readonly size: number;

  /** `patterns` are added to those that apply to every text. */
  constructor(secrets: readonly Secret[], patterns: Patterns = {}) {
    this.#patterns = { ...PATTERNS, ...patterns };
    const kinds = new Map(secrets.map(({ kind, value }) => [value, kind]));
    const wanted = [...kinds].filter(([value]) => value.length >= SHORTEST_SECRET);
    this.size = wanted.length;
    for (const [value, kind] of wanted) {
      for (const form of formsOf(value)) this.#add(kind, form);
    }
  }

  /** Returns every secret in a text, and everything that looks like one. */
  scan(text: string): readonly Finding[] {
    const findings = [...this.#known(text)];
    for (const [kind, pattern] of Object.entries(this.#patterns)) {
      for (const { index } of text.matchAll(pattern)) findings.push(found(kind, text, index));
    }
    return findings;
  }

  #add(kind: string, form: string): void {
    const start = form.slice(0, SHORTEST_SECRET);
    const forms = this.#forms.get(start) ?? [];
    forms.push({ kind, form });
    this.#forms.set(start, forms);
  }

  *#known(text: string): Generator<Finding> {
    for (let index = 0; index <= text.length - SHORTEST_SECRET; index += 1) {
      const forms = this.#forms.get(text.slice(index, index + SHORTEST_SECRET)) ?? [];
      for (const { kind, form } of forms) {
        if (text.startsWith(form, index)) yield found(kind, text, index);
      }
    }
  }
}

function found(kind: string, text: string, index: number): Finding {
  return { kind, excerpt: text.slice(Math.max(0, index - CONTEXT), index + CONTEXT) };
}
