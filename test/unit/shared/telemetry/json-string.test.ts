import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { jsonString } from '../../../../shared/telemetry/json-string.ts';

const LINE = /^"[^\p{Cc}\p{Bidi_Control}\u2028\u2029]*"$/u;

test('a text is written as JSON in one line, without characters that steer a terminal', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
    fc.string({
      unit: fc.constantFrom('a', '"', '\\', '\n', '\u007f', '\u2028', '\ud800', '\udc00'),
    }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(JSON.parse(jsonString(text))).toBe(text);
      expect(jsonString(text)).toMatch(LINE);
    }),
  );
});

test.each(['', ' ', '~', '"', '\\', '\u001f', 'ü', '日本', '\ud800', 'a'.repeat(65)])(
  'the text %j is written as JSON.stringify writes it',
  (text) => {
    expect(jsonString(text)).toBe(JSON.stringify(text));
  },
);

test.each([
  ['the end of a line in some readers', 'a\u0085b', '"a\\u0085b"'],
  ['a control of terminals', '\u009b31m', '"\\u009b31m"'],
  ['a separator of lines', '\u2028', '"\\u2028"'],
  ['a change of direction', '\u202e', '"\\u202e"'],
  ['a character that is not seen', 'dr\u200bop', '"dr\\u200bop"'],
])('%s is escaped', (_what, text, json) => {
  expect(jsonString(text)).toBe(json);
});
