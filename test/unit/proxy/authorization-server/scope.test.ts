import { describe, expect, test } from '@jest/globals';

import { InvalidScopeError } from '../../../../proxy/errors/oauth-errors.ts';
import { narrowScope, parseScope } from '../../../../proxy/authorization-server/scope.ts';
import { verifies } from '../../../requirements/verifies.ts';

describe('parseScope', () => {
  test.each<[string | undefined, readonly string[]]>([
    [undefined, []],
    ['a', ['a']],
    ['b a', ['b', 'a']],
    ['a b a', ['a', 'b']],
    ['mcp:tools/read!', ['mcp:tools/read!']],
  ])('reads %p as %p', (text, scopes) => {
    expect(parseScope(text)).toEqual(scopes);
  });

  test.each(['', ' ', ' a', 'a ', 'a  b', 'a\tb', 'a"b', 'a\\b', 'ä', 'x'.repeat(1025)])(
    'refuses %p',
    (text) => {
      expect(() => parseScope(text)).toThrow(InvalidScopeError);
    },
  );
});

describe('narrowScope', () => {
  const NARROWED: readonly (readonly [string | undefined, readonly string[], readonly string[]])[] =
    [
      [undefined, ['a', 'b'], ['a', 'b']],
      [undefined, [], []],
      ['b', ['a', 'b'], ['b']],
      ['b a', ['a', 'b'], ['b', 'a']],
    ];

  for (const [text, granted, scopes] of NARROWED) {
    verifies(
      'as.scope-not-exceeded',
      `grants ${JSON.stringify(text)} of ${JSON.stringify(granted)}`,
      () => {
        expect(narrowScope(text, granted)).toEqual(scopes);
      },
    );
  }

  const TOO_MUCH: readonly (readonly [string, readonly string[]])[] = [
    ['c', ['a', 'b']],
    ['a c', ['a', 'b']],
    ['a', []],
  ];

  for (const [text, granted] of TOO_MUCH) {
    verifies(
      'as.scope-not-exceeded',
      `refuses ${JSON.stringify(text)} of ${JSON.stringify(granted)}`,
      () => {
        expect(() => narrowScope(text, granted)).toThrow(InvalidScopeError);
      },
    );
  }
});
