import { describe, expect, test } from '@jest/globals';

import { readParameters } from '../../../../proxy/http/read-parameters.ts';

describe('The parameters of a query', () => {
  test('are read with or without its question mark', () => {
    expect([...readParameters('?a=b%26c&d=')]).toEqual([...readParameters('a=b%26c&d=')]);
  });

  test('are at most 256', () => {
    const query = `?${'a=b&'.repeat(255)}`;
    expect(readParameters(`${query}c=d`).size).toBe(256);
    expect(() => readParameters(`${query}c=d&e=f`)).toThrow(
      expect.objectContaining({ reason: 'too-many-parameters', status: 400 }),
    );
  });
});
