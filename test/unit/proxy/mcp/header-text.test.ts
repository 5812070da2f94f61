import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { decodeHeaderText } from '../../../../proxy/mcp/header-text.ts';

describe('decodeHeaderText', () => {
  test('decodes the text that a client encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const encoded = `=?base64?${Buffer.from(text).toString('base64')}?=`;

        expect(decodeHeaderText(encoded)).toBe(text);
      }),
    );
  });

  test.each([
    ['read_file', 'read_file'],
    ['', ''],
    ['=?base64?', '=?base64?'],
    ['=?BASE64?YQ==?=', '=?BASE64?YQ==?='],
    ['=?base64??=', ''],
    ['=?base64?PT9iYXNlNjQ/WVE9PT89?=', '=?base64?YQ==?='],
  ])('reads %j as %j', (value, text) => {
    expect(decodeHeaderText(value)).toBe(text);
  });

  test.each([
    ['=?base64?YQ?=', 'without its padding'],
    ['=?base64?YR==?=', 'with bits that decoding drops'],
    ['=?base64?Y Q==?=', 'with a space'],
    ['=?base64?_-8=?=', 'of the URL alphabet'],
    ['=?base64?gA==?=', 'of bytes that are not UTF-8'],
    ['=?base64?=', 'whose ends overlap'],
    ['caf\u00e9', 'beyond ASCII'],
    ['a\u007f', 'with a control character'],
  ])('reads nothing from %j, text %s', (value) => {
    expect(decodeHeaderText(value)).toBeUndefined();
  });
});
