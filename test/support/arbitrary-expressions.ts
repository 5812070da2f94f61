import fc from 'fast-check';

/** Elements of one character that mean different things in the two readings. */
const CHARACTERS = [
  ...['a', 'b', 'K', 's', '/', '_', '-', '0', '.', '[^/]', '[a-c]', '[^a-z]', '[A-Z0-9]'],
  ...[
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\.',
    '\\/',
    '\\x2f',
    '\\u{61}',
    '\\p{Lu}',
    '\u017f',
    '[]',
  ],
];

const BOUNDARIES = ['^', '$', '\\b', '\\B'];

const QUANTIFIERS = ['*', '+', '?', '*?', '+?', '??', '{0}', '{2}', '{1,}', '{0,2}', '{1,3}?'];

/** Regular expressions that use everything that is supported, a few levels deep. */
export const ARBITRARY_EXPRESSION: fc.Arbitrary<string> = fc.letrec<{ expression: string }>(
  (tie) => {
    const group = fc
      .tuple(fc.constantFrom('(', '(?:'), tie('expression'))
      .map(([open, inner]) => `${open}${inner})`);
    const atom = fc.oneof(
      { depthSize: 'small' },
      { weight: 3, arbitrary: fc.constantFrom(...CHARACTERS) },
      { weight: 1, arbitrary: group },
    );
    const repeated = fc
      .tuple(atom, fc.constantFrom('', '', ...QUANTIFIERS))
      .map(([each, quantifier]) => each + quantifier);
    const element = fc.oneof(
      { weight: 6, arbitrary: repeated },
      { weight: 1, arbitrary: fc.constantFrom(...BOUNDARIES) },
    );
    const sequence = fc.array(element, { maxLength: 3 }).map((each) => each.join(''));
    const expression = fc
      .array(sequence, { minLength: 1, maxLength: 2 })
      .map((each) => each.join('|'));
    return { expression };
  },
).expression;
