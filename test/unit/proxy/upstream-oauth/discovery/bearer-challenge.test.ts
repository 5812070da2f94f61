import { expect, test } from '@jest/globals';

import { parseBearerChallenge } from '../../../../../proxy/upstream-oauth/discovery/bearer-challenge.ts';

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource';

test.each([
  [`Bearer resource_metadata="${METADATA}"`, { resourceMetadata: METADATA }],
  [`bearer RESOURCE_METADATA="${METADATA}"`, { resourceMetadata: METADATA }],
  [`Bearer scope="a b", error="insufficient_scope"`, { scope: 'a b', error: 'insufficient_scope' }],
  ['Bearer error=invalid_token,scope=a', { error: 'invalid_token', scope: 'a' }],
  ['Bearer error = "invalid_token" , scope = a', { error: 'invalid_token', scope: 'a' }],
  ['Bearer realm="x, Bearer scope=\\"b\\"", scope="a"', { scope: 'a' }],
  ['Bearer scope="a \\"quoted\\" word"', { scope: 'a "quoted" word' }],
  ['Bearer', {}],
  ['Bearer , Basic realm="x"', {}],
  ['Basic realm="x", Bearer error="invalid_token"', { error: 'invalid_token' }],
  ['Negotiate, Bearer scope=a', { scope: 'a' }],
  ['Negotiate YII=, Bearer scope=a', { scope: 'a' }],
  ['DPoP algs="ES256", error="x", Bearer scope="a", DPoP error="y"', { scope: 'a' }],
  ['Bearer scope=a, scope=b', { scope: 'a' }],
  [',, Bearer scope=a,', { scope: 'a' }],
  ['Bearer scope=a, error="unfinished', { scope: 'a' }],
])('the Bearer challenge in %j is found', (value, expected) => {
  expect(parseBearerChallenge([value])).toEqual(expected);
});

test.each([
  ['Basic realm="Bearer scope=a"'],
  ['BearerToken scope=a'],
  ['Basic realm="unfinished, Bearer scope=a'],
  ['=, Bearer scope=a'],
  [''],
  [`Bearer scope="${'a'.repeat(9000)}"`],
])('there is no Bearer challenge in %j', (value) => {
  expect(parseBearerChallenge([value])).toBeNull();
});

test('the challenge may be in any of several fields', () => {
  expect(parseBearerChallenge(['Basic realm="x"', 'Bearer scope=a'])).toEqual({ scope: 'a' });
});

test('the time to read a challenge does not explode with its length', () => {
  for (const part of ['a ', ',', '"', '\\', 'a=', 'a=b ', 'a="b" ', 'a, ', ' \t', 'a='.repeat(3)]) {
    expect(() => parseBearerChallenge([`x ${part.repeat(8190 / part.length)}`])).not.toThrow();
  }
});
