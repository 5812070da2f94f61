import { expect, test } from '@jest/globals';

import { scopeUnion } from '../../../../../proxy/upstream-oauth/internal-tokens/scope-union.ts';

test('The union has each scope once, those that the user has first', () => {
  expect(scopeUnion(['read', 'write'], [], ['admin', 'read'])).toEqual(['read', 'write', 'admin']);
});

test('An upstream cannot add what no scope is', () => {
  expect(scopeUnion(['read'], ['a b', 'a"b', '', 'x'.repeat(201), 'é'])).toEqual(['read']);
});

test('An upstream that asks for other scopes for ever reaches a bound, and takes none away', () => {
  let scopes: readonly string[] = ['read'];
  for (let hour = 0; hour < 100; hour += 1) scopes = scopeUnion(scopes, [`scope-${String(hour)}`]);
  expect(scopes).toHaveLength(50);
  expect(scopes[0]).toBe('read');
});
