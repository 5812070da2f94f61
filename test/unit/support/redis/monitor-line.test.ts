import { expect, test } from '@jest/globals';

import { argumentsOf } from '../../../support/redis/suite/monitor-line.ts';

test.each<readonly [what: string, line: string, words: readonly string[]]>([
  ['a command', '+1.5 [0 127.0.0.1:4242] "SET" "key" "a value"', ['SET', 'key', 'a value']],
  ['a command of a script', '+1.5 [0 lua] "GET" "key"', ['GET', 'key']],
  [
    'quotes and backslashes',
    String.raw`+1.5 [0 lua] "SET" "{\"a\":\"\\n\"}"`,
    ['SET', '{"a":"\\n"}'],
  ],
  ['line breaks', String.raw`+1.5 [0 lua] "EVAL" "a\r\n\tb"`, ['EVAL', 'a\r\n\tb']],
  ['bytes beyond ASCII', String.raw`+1.5 [0 lua] "SET" "J\xc3\xbcrgen"`, ['SET', 'Jürgen']],
  ['an empty argument', '+1.5 [0 lua] "SET" "key" ""', ['SET', 'key', '']],
])('reads %s', (_, line, words) => {
  expect(argumentsOf(line)).toEqual(words);
  expect(argumentsOf(`${line}\r`)).toEqual(words);
});

test('does not take an answer for a command', () => {
  expect(argumentsOf('+OK')).toBeNull();
});
