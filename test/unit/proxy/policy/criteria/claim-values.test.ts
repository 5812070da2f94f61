import { describe, expect, test } from '@jest/globals';

import { claimValues } from '../../../../../proxy/policy/criteria/claim-values.ts';

describe('claimValues', () => {
  test('finds what the claims have themselves', () => {
    const claims = JSON.parse('{"__proto__":{"role":"admin"}}') as Record<string, unknown>;

    expect(claimValues(claims, ['__proto__', 'role'])).toEqual(['admin']);
  });

  test('finds nothing that claims or their members inherit', () => {
    const inheriting = Object.create({ role: 'admin' }) as Record<string, unknown>;

    expect(claimValues(inheriting, ['role'])).toEqual([]);
    expect(claimValues({ realm: inheriting }, ['realm', 'role'])).toEqual([]);
  });
});
