import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { jsonString } from '../../../../shared/telemetry/json-string.ts';

test('a text is written as JSON.stringify writes it', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
    fc.string({
      unit: fc.constantFrom('a', '"', '\\', '\n', '\u007f', '\u2028', '\ud800', '\udc00'),
    }),
  );
  fc.assert(fc.property(texts, (text) => jsonString(text) === JSON.stringify(text)));
});

test.each(['', ' ', '~', '"', '\\', '\u001f', '\u007f', '\u0080', '\ud800', 'a'.repeat(65)])(
  'the text %j is written as JSON.stringify writes it',
  (text) => {
    expect(jsonString(text)).toBe(JSON.stringify(text));
  },
);
