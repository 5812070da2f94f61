import { describe, expect, test } from '@jest/globals';

import { claimValues } from '../../../../../shared/policy/criteria/claim-values.ts';

describe('claimValues', () => {
  test('finds own members of the claims', () => {
    const claims = JSON.parse('{"__proto__":{"role":"admin"}}') as Record<string, unknown>;

    expect(claimValues(claims, ['__proto__', 'role'])).toBe('admin');
  });

  test('has no numbers that were rounded', () => {
    const claims = JSON.parse('{"a":9007199254740993,"b":[1,9007199254740993],"c":-1.5}') as object;

    expect(['a', 'b', 'c'].map((name) => claimValues({ ...claims }, [name]))).toEqual([
      undefined,
      undefined,
      '-1.5',
    ]);
  });

  test('does not find inherited members of the claims', () => {
    const inheriting = Object.create({ role: 'admin' }) as Record<string, unknown>;

    expect(claimValues(inheriting, ['role'])).toBeUndefined();
    expect(claimValues({ realm: inheriting }, ['realm', 'role'])).toBeUndefined();
  });
});
