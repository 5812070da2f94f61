import { describe, expect, test } from '@jest/globals';

import { compilePathMatch } from '../../../../controller/compile/path-match.ts';
import { aRoute } from '../../../support/resources.ts';

describe('the path of a route', () => {
  test.each([
    [{}, { kind: 'prefix', value: '' }],
    [{ prefix: '/' }, { kind: 'prefix', value: '' }],
    [{ prefix: '/files' }, { kind: 'prefix', value: '/files' }],
    [{ prefix: '/files/' }, { kind: 'prefix', value: '/files' }],
    [{ prefix: '/.gateways' }, { kind: 'prefix', value: '/.gateways' }],
    [{ prefix: '/...' }, { kind: 'prefix', value: '/...' }],
    [{ prefix: '/caf%C3%A9' }, { kind: 'prefix', value: '/caf%C3%A9' }],
    [{ path: '/' }, { kind: 'exact', value: '/' }],
    [{ path: '/files/' }, { kind: 'exact', value: '/files/' }],
    [{ regex: '/v[0-9]+/.*' }, { kind: 'regex', value: '/v[0-9]+/.*' }],
  ])('%j becomes %j', (spec, value) => {
    expect(compilePathMatch(aRoute(spec).spec)).toEqual({ kind: 'made', value });
  });

  test.each([
    ['files', 'must begin with "/"'],
    ['/a//b', 'must not contain "//"'],
    ['//', 'must not contain "//"'],
    ['/a/../b', 'must not contain "." or ".." segments'],
    ['/a/.', 'must not contain "." or ".." segments'],
    ['/a%2fb', 'must not contain an encoded "/", "\\" or "%"'],
    ['/a%2Fb', 'must not contain an encoded "/", "\\" or "%"'],
    ['/a%5cb', 'must not contain an encoded "/", "\\" or "%"'],
    ['/a%252fb', 'must not contain an encoded "/", "\\" or "%"'],
    ['/%2e%2e/b', 'must not encode letters, digits, "-", ".", "_" and "~"'],
    ['/%61dmin', 'must not encode letters, digits, "-", ".", "_" and "~"'],
    ['/%5A%7e', 'must not encode letters, digits, "-", ".", "_" and "~"'],
    ['/a%0', 'must have two hexadecimal digits after "%"'],
    [
      '/a b',
      'must be written as in a URL: without spaces, "?" or "#", and with other characters encoded',
    ],
    [
      '/a?b',
      'must be written as in a URL: without spaces, "?" or "#", and with other characters encoded',
    ],
    [
      '/a\\b',
      'must be written as in a URL: without spaces, "?" or "#", and with other characters encoded',
    ],
    ['/.gateway', '/.gateway/ is reserved for the gateway itself'],
    ['/.gateway/', '/.gateway/ is reserved for the gateway itself'],
    ['/.gateway/mcp', '/.gateway/ is reserved for the gateway itself'],
    ['/.Gateway/mcp', '/.gateway/ is reserved for the gateway itself'],
    ['/;a/.gateway/mcp', '/.gateway/ is reserved for the gateway itself'],
    ['/.gateway;a', '/.gateway/ is reserved for the gateway itself'],
  ])('cannot be %s, as prefix or as path', (path, message) => {
    const reason = 'InvalidSpec';

    expect(compilePathMatch(aRoute({ prefix: path }).spec)).toEqual({
      kind: 'invalid',
      problems: [{ path: 'spec.prefix', reason, message }],
    });
    expect(compilePathMatch(aRoute({ path }).spec)).toEqual({
      kind: 'invalid',
      problems: [{ path: 'spec.path', reason, message }],
    });
  });

  test('cannot be an unsafe regular expression', () => {
    expect(compilePathMatch(aRoute({ regex: '(?=a)' }).spec)).toMatchObject({
      problems: [{ path: 'spec.regex', reason: 'InvalidRegex' }],
    });
  });
});
