import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { bearerToken } from '../../../../proxy/authentication/bearer-token.ts';
import { TokenRequiredError } from '../../../../proxy/errors/authentication-errors.ts';

const TOKEN = 'gte_a-b.c~d+e/f==';

/** Returns the token of an `Authorization` value; `none` if it has none. */
function tokenIn(authorization: string | undefined, known: readonly string[] = []): string {
  try {
    return bearerToken({ message: { headers: { authorization } } }, (token) =>
      known.includes(token),
    );
  } catch (error) {
    if (error instanceof TokenRequiredError) return 'none';
    throw error;
  }
}

describe('A bearer token', () => {
  test.each([
    ['Bearer', `Bearer ${TOKEN}`],
    ['bearer', `bEARER ${TOKEN}`],
    ['several spaces', `Bearer   ${TOKEN}`],
    ['spaces at the end', `Bearer ${TOKEN}  `],
  ])('is read after %s', (_what, authorization) => {
    expect(tokenIn(authorization)).toBe(TOKEN);
    expect(tokenIn(authorization, [TOKEN])).toBe(TOKEN);
  });

  test.each([
    ['no field', undefined],
    ['another scheme', `Basic ${TOKEN}`],
    ['no space', `Bearer${TOKEN}`],
    ['a tab', `Bearer\t${TOKEN}`],
    ['two credentials', `Bearer ${TOKEN}, Bearer ${TOKEN}`],
    ['nothing', 'Bearer '],
    ['something after its padding', `Bearer ${TOKEN}a`],
  ])('is not read from %s', (_what, authorization) => {
    expect(tokenIn(authorization)).toBe('none');
    expect(tokenIn(authorization, [TOKEN])).toBe('none');
  });

  test('is the same whether it is known or not', () => {
    const part = fc.constantFrom('Bearer', 'bearer', ' ', '  ', '\t', ',', '=', TOKEN, 'x', '');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const authorization = parts.join('');
        const known = [TOKEN, 'x', `x${TOKEN}`];
        expect(tokenIn(authorization, known)).toBe(tokenIn(authorization));
      }),
      { numRuns: 2_000 },
    );
  });
});
